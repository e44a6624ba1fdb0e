/* SPDX-License-Identifier: Apache-2.0 */
/* Random operations on a tiny tree, with arguments that the contracts allow, right and wrong ones:
 * what is checked is that no contract breaks. Every outcome of every operation must come about. Now
 * and then a copy of the tree or of the plan is spoilt in one place: the predicate tree_ok and
 * cp_tree_check(), plan_ok and cp_plan_check() must agree on it, which shows that the predicates
 * can fail.
 *
 *     fuzz [OPERATIONS [SEED]] */
#include <stdio.h>
#include <stdlib.h>

#include "chunkproof/number.h"
#include "chunkproof/plan.h"
#include "chunkproof/status.h"
#include "chunkproof/tree.h"
#include "number_internal.h"
#include "random.h"

#define OPERATIONS_PER_TREE 300
#define MAX_TOKENS          (CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE + 2)
#define N_STATUSES          (CP_ERROR_WORKSPACE + 1)

enum {
    JOIN,
    APPEND,
    APPEND_EACH,
    LEAVE,
    FORK,
    LOOKUP,
    READ,
    FIND,
    POOL,
    PLAN,
    SPOIL_TREE,
    SPOIL_PLAN,
    N_OPERATIONS
};

static const char *const operation_name[N_OPERATIONS] = {
    "join", "append", "append_each", "leave", "fork",       "lookup",
    "read", "find",   "pool",        "plan",  "spoil_tree", "spoil_plan"};

/* The statuses that each operation can return, as bits; for the others: 0 nothing there, 1
 * something there (plan: 0 kept, 1 rebuilt; spoil: 0 it broke, 1 it is right all the same). */
#define BIT(status) (1U << (status))
static const unsigned outcomes[N_OPERATIONS] = {
    BIT(CP_OK) | BIT(CP_ERROR_ARGUMENT) | BIT(CP_ERROR_POOL_FULL) | BIT(CP_ERROR_SEQUENCES_FULL) |
        BIT(CP_ERROR_TOO_LONG),
    BIT(CP_OK) | BIT(CP_ERROR_ARGUMENT) | BIT(CP_ERROR_POOL_FULL) | BIT(CP_ERROR_TOO_LONG),
    BIT(CP_OK) | BIT(CP_ERROR_ARGUMENT) | BIT(CP_ERROR_POOL_FULL) | BIT(CP_ERROR_TOO_LONG),
    BIT(CP_OK) | BIT(CP_ERROR_ARGUMENT),
    BIT(CP_OK) | BIT(CP_ERROR_ARGUMENT) | BIT(CP_ERROR_POOL_FULL) | BIT(CP_ERROR_SEQUENCES_FULL),
    BIT(0) | BIT(1),
    BIT(0) | BIT(1),
    BIT(0) | BIT(1),
    BIT(0) | BIT(1),
    BIT(0) | BIT(1),
    BIT(0) | BIT(1),
    BIT(0) | BIT(1),
};

static unsigned long long state; /* of the random numbers */
static struct cp_tree *tree;
static struct cp_plan *plan;

/* A sequence, one time in eight none. */
static int any_sequence(void) {
    if (random_below(&state, 8) == 0) {
        return random_below(&state, 2) == 0 ? -1 : tree->n_sequences;
    }
    return tree->n_sequences == 0 ? 0 : random_below(&state, tree->n_sequences);
}

/* A prompt of few different tokens; its length. */
static int any_prompt(int *token) {
    int n = random_below(&state, 4) == 0 ? random_below(&state, MAX_TOKENS + 1)
                                         : random_below(&state, 2 * tree->chunk_size + 2);
    for (int k = 0; k < n; k++) {
        token[k] = random_below(&state, 6) == 0;
    }
    return n;
}

static int any_join(long long id) {
    int token[MAX_TOKENS + 1];
    unsigned long long hash[MAX_TOKENS + 1];
    struct cp_joined joined;
    unsigned long long salt = (unsigned long long)(random_below(&state, 4) == 0);
    int n = any_prompt(token);
    cp_tree_hash_prompt(tree, token, n, hash);
    if (random_below(&state, 16) == 0) {
        return cp_tree_join(tree, NULL, -random_below(&state, 2), salt, id, NULL, &joined);
    }
    return cp_tree_join(tree, token, n, salt, id, random_below(&state, 2) == 0 ? NULL : hash,
                        &joined);
}

static int any_lookup(void) {
    int token[MAX_TOKENS + 1];
    int n = any_prompt(token);
    unsigned long long salt = (unsigned long long)(random_below(&state, 4) == 0);
    return cp_tree_lookup(tree, token, n, salt, NULL).n_chunks > 0;
}

static int any_append_each(void) {
    int sequence[CP_MAX_SEQUENCES + 1];
    int token[CP_MAX_SEQUENCES + 1];
    int n = 0;
    for (int s = 0; s < tree->n_sequences; s++) {
        if (random_below(&state, 3) > 0) {
            sequence[n] = s;
            token[n++] = random_below(&state, 2);
        }
    }
    if (random_below(&state, 8) == 0) { /* out of range, or out of order */
        sequence[n] = any_sequence();
        token[n++] = 0;
    }
    return cp_tree_append_each(tree, random_below(&state, 32) == 0 ? -1 : n, sequence, token);
}

/* Reads one sequence whole. */
static int read_one(void) {
    if (tree->n_sequences == 0) {
        return 0;
    }
    int s = random_below(&state, tree->n_sequences);
    int n = cp_tree_length(tree, s);
    for (int k = 0; k < n; k++) {
        cp_tree_token(tree, s, k);
    }
    return n > 0;
}

static int any_plan(void) {
    int rebuilt = cp_plan_update(plan, tree);
    if (!cp_plan_is_current(plan, tree->stamp) || !cp_plan_is_valid(plan)) {
        fputs("the plan is not right\n", stderr);
        abort();
    }
    return rebuilt;
}

/* Mostly a small number. */
static void spoil(int *field) {
    static const int extremes[] = {-1, 1000, 0x7FFFFFFF, -0x7FFFFFFF - 1};
    if (random_below(&state, 8) == 0) {
        *field = extremes[random_below(&state, 4)];
    } else {
        *field += random_below(&state, 2) == 0 ? 1 : -1;
    }
}

/*@ ensures agrees: \let now = *(struct cp_tree *)tested; \result == 1 <==> tree_ok(now); */
static int tree_is_right(const struct cp_tree *tested) {
    return cp_tree_check(tested) == NULL;
}

static int spoil_tree(void) {
    static struct cp_tree copy;
    copy = *tree;
    int x = random_below(&state, CP_MAX_CHUNKS);
    struct cp_sequence *sequence = &copy.sequence[random_below(&state, CP_MAX_SEQUENCES)];
    int *const field[] = {
        &copy.pool.capacity,
        &copy.pool.n_free,
        &copy.pool.perm[x],
        &copy.pool.pos[x],
        &copy.chunk_size,
        &copy.hash_bits,
        &copy.n_sequences,
        &copy.begin[x],
        &copy.end[x],
        &copy.depth[x],
        &copy.fill[x],
        &sequence->n_chunks,
        &sequence->chunk[random_below(&state, CP_MAX_DEPTH)],
    };
    int which = random_below(&state, 14);
    if (which < 13) {
        spoil(field[which]);
    } else {
        sequence->salt ^= 1;
    }
    return tree_is_right(&copy);
}

static int spoil_plan(void) {
    static struct cp_plan copy;
    cp_plan_update(plan, tree);
    copy = *plan;
    struct cp_plan_sequence *path = &copy.sequence[random_below(&state, CP_MAX_SEQUENCES)];
    struct cp_shared_chunk *shared =
        &copy.shared[plan->n_shared == 0 ? 0 : random_below(&state, plan->n_shared)];
    struct cp_run *run = &path->run[random_below(&state, CP_MAX_DEPTH)];
    int *const field[] = {
        &copy.capacity,
        &copy.chunk_size,
        &copy.n_sequences,
        &copy.n_shared,
        &path->n_tokens,
        &path->n_chunks,
        &path->n_shared,
        &run->chunk,
        &run->n_tokens,
        &run->position,
        &shared->chunk,
        &shared->begin,
        &shared->end,
        &shared->n_tokens,
        &shared->position,
        &copy.n_served,
        &copy.served[random_below(&state, CP_MAX_SEQUENCES)],
    };
    spoil(field[random_below(&state, 17)]);
    (void)cp_plan_check_runs(&copy);
    return cp_plan_check(&copy) == NULL;
}

static void any_bit(void) {
    const unsigned char bits[2] = {(unsigned char)random_below(&state, 256), 0xA5};
    cp_bit_load(bits, (size_t)random_below(&state, 16));
}

static int any_operation(int what, long long id) {
    struct cp_forked forked;
    switch (what) {
    case JOIN:
        return any_join(id);
    case APPEND:
        return cp_tree_append(tree, any_sequence(), random_below(&state, 2));
    case APPEND_EACH:
        return any_append_each();
    case LEAVE:
        return cp_tree_leave(tree, any_sequence());
    case FORK:
        return cp_tree_fork(tree, any_sequence(), id, &forked);
    case LOOKUP:
        return any_lookup();
    case READ:
        return read_one();
    case FIND:
        return cp_tree_find(tree, id - random_below(&state, 20)) >= 0;
    case POOL:
        cp_number_size(random_below(&state, 5) - 1);
        any_bit();
        return cp_pool_is_used(&tree->pool, random_below(&state, tree->pool.capacity));
    case PLAN:
        return any_plan();
    case SPOIL_TREE:
        return spoil_tree();
    default:
        return spoil_plan();
    }
}

static void new_tree(void) {
    cp_tree_free(tree);
    if (cp_tree_new(&tree, 2 + random_below(&state, CP_MAX_CHUNKS - 1),
                    1 + random_below(&state, CP_MAX_CHUNK_SIZE),
                    random_below(&state, 3)) != CP_OK) {
        abort();
    }
}

int main(int argc, char **argv) {
    static const int weights[N_OPERATIONS] = {4, 4, 3, 2, 2, 1, 1, 1, 1, 2, 2, 2};
    static long seen[N_OPERATIONS][N_STATUSES];
    long operations = argc > 1 ? atol(argv[1]) : 1000;
    int missing = 0;
    state = argc > 2 ? (unsigned long long)atol(argv[2]) : 1;
    if (cp_plan_new(&plan) != CP_OK) {
        abort();
    }
    for (long i = 0; i < operations; i++) {
        if (i % OPERATIONS_PER_TREE == 0) {
            new_tree();
        }
        int what = 0;
        for (int at = random_below(&state, 25); at >= weights[what]; what++) {
            at -= weights[what];
        }
        seen[what][any_operation(what, i)]++;
        if (!cp_tree_is_valid(tree)) {
            fputs("the tree is not valid\n", stderr);
            abort();
        }
    }
    for (int what = 0; what < N_OPERATIONS; what++) {
        printf("%-12s", operation_name[what]);
        for (int status = 0; status < N_STATUSES; status++) {
            int possible = (outcomes[what] & BIT(status)) != 0;
            if (possible) {
                printf(" %d: %ld", status, seen[what][status]);
            }
            missing += possible != (seen[what][status] > 0);
        }
        printf("\n");
    }
    cp_tree_free(tree);
    cp_plan_free(plan);
    printf("operations %ld, outcomes that should or should not be there %d\n", operations, missing);
    return missing > 0;
}
