/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of opt/ and the reference, under the same operations (tests/opt_pair.h). After each
 * operation both have the same answer, tokens, ranges, chunks, stamps and plan, and are valid
 * (opt/README.md). Only the reference refuses a batch in the wrong order; opt/ gets it in the right
 * one. In the end all sequences leave, and every chunk is free (TREE-11). */
#include "chunkproof/status.h"
#include "fuzz/format.h"
#include "fuzz/target.h"
#include "tests/opt_pair.h"

#define MOST_BATCH 64
#define MOST_KEPT  512 /* tokens of a sequence, so that an input does not take long */

static void check(const char *differs) {
    if (differs != NULL) {
        fuzz_fail("opt/ differs from the reference: %s", differs);
    }
}

static int index_of(const struct opt_pair *pair, int sequence) {
    int n = pair->tree->n_sequences;
    if (sequence == FORMAT_NO_SEQUENCE) {
        return -1;
    }
    return sequence == FORMAT_BEHIND_THE_LAST || n == 0 ? n : sequence % n;
}

static int token_of(const struct format_operation *o, int k) {
    return o->pattern >> (2 * (k % 8)) & 3;
}

/* The prompt of a join or a lookup: the first tokens of a sequence, then those of the pattern. */
static int prompt(const struct opt_pair *pair, const struct format_operation *o, int *token) {
    int s = index_of(pair, o->sequence);
    int known = s >= 0 && s < pair->tree->n_sequences ? cp_tree_length(pair->tree, s) : 0;
    for (int k = 0; k < o->tokens; k++) {
        token[k] = k < o->common && k < known ? cp_tree_token(pair->tree, s, k) : token_of(o, k);
    }
    return o->tokens;
}

static void join_or_lookup(struct opt_pair *pair, const struct format_operation *o) {
    int token[FORMAT_MOST_TOKENS] = {0};
    int n = prompt(pair, o, token);
    unsigned long long salt = o->flags & FORMAT_SALTED;
    if (o->kind == FORMAT_LOOKUP) {
        check(pair_lookup(pair, token, n, salt, NULL));
    } else {
        n = o->sequence == FORMAT_NO_SEQUENCE ? -1 : n;
        check(pair_join(pair, token, n, salt, o->id, NULL));
    }
}

static int is_long(const struct opt_pair *pair, int s) {
    return s >= 0 && s < pair->tree->n_sequences && cp_tree_length(pair->tree, s) >= MOST_KEPT;
}

static void step(struct opt_pair *pair, const struct format_operation *o) {
    int sequence[MOST_BATCH + 2], token[MOST_BATCH + 2], n = 0;
    for (int s = 0; s < pair->tree->n_sequences && s < MOST_BATCH; s++) {
        if ((o->pattern >> (s % 16) & 1) && !is_long(pair, s)) {
            sequence[n] = s;
            token[n++] = (o->tokens + s) % 4;
        }
    }
    if (n > 0 && o->flags & FORMAT_TWICE) {
        sequence[n] = sequence[n - 1];
        token[n++] = 0;
    }
    if (o->flags & FORMAT_ONE_MORE) {
        sequence[n] = pair->tree->n_sequences;
        token[n++] = 0;
    }
    check(pair_append_each(pair, n, sequence, token));
}

static void append(struct opt_pair *pair, const struct format_operation *o) {
    int s = index_of(pair, o->sequence);
    for (int k = 0; k < (o->tokens > 0 ? o->tokens : 1) && !is_long(pair, s); k++) {
        int token = token_of(o, k);
        check(pair_append_each(pair, 1, &s, &token));
        if (pair->status != CP_OK) {
            break;
        }
    }
}

static void apply(struct opt_pair *pair, const struct format_operation *o) {
    switch (o->kind) {
    case FORMAT_JOIN:
    case FORMAT_LOOKUP:
        join_or_lookup(pair, o);
        break;
    case FORMAT_APPEND:
        append(pair, o);
        break;
    case FORMAT_STEP:
        step(pair, o);
        break;
    case FORMAT_LEAVE:
        check(pair_leave(pair, index_of(pair, o->sequence)));
        break;
    case FORMAT_FORK:
        check(pair_fork(pair, index_of(pair, o->sequence), o->id, NULL));
        break;
    default: /* the plan is brought up to date after each operation */
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct format_input input;
    struct opt_pair pair = {0};
    format_decode(&input, data, size);
    const struct format_problem *problem = &input.problem;
    const struct cp_opt_sizes sizes = {.capacity = problem->capacity,
                                       .chunk_size = problem->chunk_size,
                                       .max_sequences = CP_MAX_SEQUENCES,
                                       .max_depth = CP_MAX_DEPTH,
                                       .hash_bits = problem->hash_bits,
                                       .seed = (unsigned long long)problem->seed};
    if (cp_tree_new(&pair.tree, sizes.capacity, sizes.chunk_size, 0) != CP_OK ||
        cp_opt_tree_new(&pair.opt_tree, &sizes) != CP_OK || cp_plan_new(&pair.plan) != CP_OK ||
        cp_opt_plan_new(&pair.opt_plan, &sizes) != CP_OK) {
        fuzz_fail("no memory for two trees");
    }
    for (int i = 0; i < input.n; i++) {
        apply(&pair, &input.operation[i]);
    }
    while (pair.tree->n_sequences > 0) {
        check(pair_leave(&pair, (int)(pair.tree->stamp.epoch % 2) * (pair.tree->n_sequences - 1)));
    }
    if (pair.opt_tree->n_free != problem->capacity) {
        fuzz_fail("nobody is left, but %d of %d chunks are free (TREE-11)", pair.opt_tree->n_free,
                  problem->capacity);
    }
    cp_tree_free(pair.tree);
    cp_opt_tree_free(pair.opt_tree);
    cp_plan_free(pair.plan);
    cp_opt_plan_free(pair.opt_plan);
    return 0;
}
