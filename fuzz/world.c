/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/world.h"

#include <stdlib.h>
#include <string.h>

#include "chunkproof/status.h"
#include "fuzz/target.h"

#define MOST_SEQUENCES                                                                             \
    (CP_MAX_SEQUENCES < MODEL_MAX_SEQUENCES ? CP_MAX_SEQUENCES : MODEL_MAX_SEQUENCES)

void world_new(struct world *world, const struct format_problem *problem) {
    int status =
        cp_tree_new(&world->tree, problem->capacity, problem->chunk_size, problem->hash_bits);
    world->model = malloc(sizeof *world->model);
    if (status != CP_OK || world->model == NULL) {
        fuzz_fail("a world cannot be made: %s", cp_status_text(status));
    }
    model_init(world->model, problem->capacity, problem->chunk_size, MOST_SEQUENCES);
}

void world_free(struct world *world) {
    cp_tree_free(world->tree);
    free(world->model);
}

/* ---- What must hold ---- */

/* What a failed operation must leave unchanged: all but the sequences' rows, which the model
 * knows. */
struct snapshot {
    struct cp_stamp stamp;
    int n_free, n_sequences;
    int perm[FORMAT_MOST_CHUNKS], begin[FORMAT_MOST_CHUNKS], end[FORMAT_MOST_CHUNKS],
        fill[FORMAT_MOST_CHUNKS];
};

static void take(struct snapshot *snapshot, const struct cp_tree *tree) {
    size_t bytes = (size_t)tree->pool.capacity * sizeof(int);
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->stamp = tree->stamp;
    snapshot->n_free = tree->pool.n_free;
    snapshot->n_sequences = tree->n_sequences;
    memcpy(snapshot->perm, tree->pool.perm, bytes);
    memcpy(snapshot->begin, tree->begin, bytes);
    memcpy(snapshot->end, tree->end, bytes);
    memcpy(snapshot->fill, tree->fill, bytes);
}

/* The tree is valid and equals the model. */
static void check(const struct world *world, const char *operation) {
    const char *broken = cp_tree_check(world->tree);
    if (broken == NULL) {
        broken = cp_tree_check_hashes(world->tree);
    }
    if (broken != NULL) {
        fuzz_fail("after %s: the tree breaks %s", operation, broken);
    }
    const char *differs = model_compare(world->model, world->tree);
    if (differs != NULL) {
        fuzz_fail("after %s: not as in the model: %s", operation, differs);
    }
}

/* ... and the stamps are right: paths have changed `epochs` times, lengths `steps` times. */
static void check_answer(const struct world *world, const char *operation, int status, int expected,
                         const struct snapshot *before, int epochs, int steps) {
    const struct cp_stamp *stamp = &world->tree->stamp;
    if (status != expected) {
        fuzz_fail("%s: %s, not %s", operation, cp_status_text(status), cp_status_text(expected));
    }
    check(world, operation);
    if (status != CP_OK) {
        struct snapshot after;
        take(&after, world->tree);
        if (memcmp(before, &after, sizeof after) != 0) {
            fuzz_fail("%s failed and changed the tree (TREE-13)", operation);
        }
    } else if (stamp->tree != before->stamp.tree ||
               stamp->epoch != before->stamp.epoch + (unsigned long long)epochs ||
               stamp->step != before->stamp.step + (unsigned long long)steps) {
        fuzz_fail("%s: the stamp has not counted it (PLAN-5)", operation);
    }
}

/* ---- Operations ---- */

static int index_of(const struct world *world, int sequence) {
    int n = world->model->n_sequences;
    if (sequence == FORMAT_NO_SEQUENCE) {
        return -1;
    }
    return sequence == FORMAT_BEHIND_THE_LAST || n == 0 ? n : sequence % n;
}

static int token_of(const struct format_operation *o, int k) {
    return o->pattern >> (2 * (k % 8)) & 3;
}

/* The prompt of a join or a lookup; returns its length. */
static int prompt(const struct world *world, const struct format_operation *o, int *token) {
    int s = index_of(world, o->sequence), c = world->model->chunk_size;
    int known = s >= 0 && s < world->model->n_sequences ? world->model->sequence[s].n_tokens : 0;
    int n = o->tokens;
    if (n > MODEL_MAX_TOKENS && n <= CP_MAX_DEPTH * c) { /* fits a path, not the model */
        n = MODEL_MAX_TOKENS;
    }
    for (int k = 0; k < n; k++) {
        token[k] = k < o->common && k < known ? world->model->sequence[s].token[k] : token_of(o, k);
    }
    return n;
}

static void join(struct world *world, const struct format_operation *o) {
    struct snapshot before;
    struct cp_joined got = {-1, -1}, right = {-1, -1};
    int token[FORMAT_MOST_TOKENS] = {0};
    unsigned long long hash[FORMAT_MOST_TOKENS], salt = o->flags & FORMAT_SALTED;
    int n = prompt(world, o, token);
    if (MOST_SEQUENCES < CP_MAX_SEQUENCES && world->model->n_sequences == MOST_SEQUENCES) {
        return; /* room in the tree, but not in the model */
    }
    cp_tree_hash_prompt(world->tree, token, n, hash);
    n = o->sequence == FORMAT_NO_SEQUENCE ? -1 : n;
    take(&before, world->tree);
    int status = cp_tree_join(world->tree, token, n, salt, o->id,
                              o->flags & FORMAT_HASHED ? hash : NULL, &got);
    int expected = n < 0 ? CP_ERROR_ARGUMENT : CP_ERROR_TOO_LONG;
    if (n >= 0 && n <= CP_MAX_DEPTH * world->model->chunk_size) {
        expected = model_join(world->model, token, n, salt, o->id, &right);
    }
    check_answer(world, "join", status, expected, &before, 1, 0);
    if (got.sequence != right.sequence || got.n_shared != right.n_shared) {
        fuzz_fail("join: sequence %d, %d tokens shared, not %d, %d", got.sequence, got.n_shared,
                  right.sequence, right.n_shared);
    }
}

/* The status of the first sequence that cannot have a token; else CP_OK. */
static int refusal(const struct world *world, int n, const int *sequence) {
    const struct model *model = world->model;
    for (int i = 0; i < n; i++) {
        if (sequence[i] < 0 || sequence[i] >= model->n_sequences ||
            (i > 0 && sequence[i] <= sequence[i - 1])) {
            return CP_ERROR_ARGUMENT;
        }
        if (model->sequence[sequence[i]].n_tokens == CP_MAX_DEPTH * model->chunk_size) {
            return CP_ERROR_TOO_LONG;
        }
    }
    return CP_OK;
}

/* How many chunks a token for each of these sequences adds. */
static int added(const struct world *world, int n, const int *sequence) {
    int needed = 0;
    for (int i = 0; i < n; i++) {
        needed += world->model->sequence[sequence[i]].n_tokens % world->model->chunk_size == 0;
    }
    return needed;
}

/* Has the model no room for one more token, though the tree has? */
static int is_full(const struct world *world, int s) {
    int n = s >= 0 && s < world->model->n_sequences ? world->model->sequence[s].n_tokens : 0;
    return n == MODEL_MAX_TOKENS && n < CP_MAX_DEPTH * world->model->chunk_size;
}

static void step(struct world *world, const struct format_operation *o) {
    int sequence[MODEL_MAX_SEQUENCES + 2] = {0}, token[MODEL_MAX_SEQUENCES + 2] = {0}, n = 0;
    struct snapshot before;
    for (int i = 0; i < world->model->n_sequences; i++) {
        int s = o->flags & FORMAT_REVERSED ? world->model->n_sequences - 1 - i : i;
        if ((o->pattern >> (s % 16) & 1) && !is_full(world, s)) {
            sequence[n++] = s;
        }
    }
    if (n > 0 && o->flags & FORMAT_TWICE) {
        sequence[n] = sequence[n - 1];
        n++;
    }
    if (o->flags & FORMAT_ONE_MORE) {
        sequence[n++] = world->model->n_sequences;
    }
    for (int i = 0; i < n; i++) {
        token[i] = (o->tokens + i) % 4;
    }
    int expected = refusal(world, n, sequence);
    int epochs = expected == CP_OK ? added(world, n, sequence) : 0;
    take(&before, world->tree);
    int status = cp_tree_append_each(world->tree, n, sequence, token);
    if (expected == CP_OK) {
        expected = model_append_each(world->model, n, sequence, token);
    }
    check_answer(world, "step", status, expected, &before, epochs, 1);
}

static void append(struct world *world, const struct format_operation *o) {
    int s = index_of(world, o->sequence);
    for (int k = 0; k < (o->tokens > 0 ? o->tokens : 1) && !is_full(world, s); k++) {
        struct snapshot before;
        const int one[] = {s};
        int token = token_of(o, k), expected = refusal(world, 1, one);
        int epochs = expected == CP_OK ? added(world, 1, one) : 0;
        take(&before, world->tree);
        int status = cp_tree_append(world->tree, s, token);
        if (expected == CP_OK) {
            expected = model_append_each(world->model, 1, one, &token);
        }
        check_answer(world, "append", status, expected, &before, epochs, 1);
        if (status != CP_OK) {
            break;
        }
    }
}

static void leave(struct world *world, const struct format_operation *o) {
    int s = index_of(world, o->sequence);
    struct snapshot before;
    take(&before, world->tree);
    int status = cp_tree_leave(world->tree, s);
    check_answer(world, "leave", status, model_leave(world->model, s), &before, 1, 0);
}

static void fork(struct world *world, const struct format_operation *o) {
    int s = index_of(world, o->sequence), at = -1;
    struct cp_forked forked = {-1, -1, -1};
    struct snapshot before;
    if (MOST_SEQUENCES < CP_MAX_SEQUENCES && world->model->n_sequences == MOST_SEQUENCES) {
        return;
    }
    take(&before, world->tree);
    int status = cp_tree_fork(world->tree, s, o->id, &forked);
    check_answer(world, "fork", status, model_fork(world->model, s, o->id, &at), &before, 1, 0);
    if (forked.sequence != at) {
        fuzz_fail("fork: sequence %d, not %d", forked.sequence, at);
    }
    int partial =
        status == CP_OK && world->model->sequence[s].n_tokens % world->model->chunk_size != 0;
    int last = partial ? world->tree->sequence[s].n_chunks - 1 : 0;
    int from = partial ? world->tree->sequence[s].chunk[last] : -1;
    int to = partial ? world->tree->sequence[at].chunk[last] : -1;
    if (forked.copy_from != from || forked.copy_to != to) {
        fuzz_fail("fork: chunk %d is copied to %d, not %d to %d", forked.copy_from, forked.copy_to,
                  from, to);
    }
}

static void lookup(struct world *world, const struct format_operation *o) {
    int token[FORMAT_MOST_TOKENS] = {0}, sequence, first = -1;
    unsigned long long hash[FORMAT_MOST_TOKENS], salt = o->flags & FORMAT_SALTED;
    int n = prompt(world, o, token);
    cp_tree_hash_prompt(world->tree, token, n, hash);
    struct cp_match match =
        cp_tree_lookup(world->tree, token, n, salt, o->flags & FORMAT_HASHED ? hash : NULL);
    int chunks = model_match(world->model, token, n, salt, &sequence);
    if (match.n_chunks != chunks || match.sequence != sequence ||
        match.n_tokens != chunks * world->model->chunk_size) {
        fuzz_fail("lookup: %d chunks of sequence %d, not %d of %d", match.n_chunks, match.sequence,
                  chunks, sequence);
    }
    for (int s = world->model->n_sequences - 1; s >= 0; s--) {
        first = world->model->sequence[s].id == o->id ? s : first;
    }
    if (cp_tree_find(world->tree, o->id) != first) {
        fuzz_fail("find: id %d is not sequence %d", o->id, first);
    }
    check(world, "lookup");
}

void world_apply(struct world *world, const struct format_operation *operation) {
    static void (*const apply[FORMAT_KINDS])(struct world *, const struct format_operation *) = {
        join, append, step, leave, fork, lookup, NULL, NULL};
    if (apply[operation->kind] != NULL) {
        apply[operation->kind](world, operation);
    }
}

void world_grow(struct world *world, const struct format_input *input) {
    world_new(world, &input->problem);
    for (int i = 0; i < input->n; i++) {
        world_apply(world, &input->operation[i]);
    }
}

struct cp_plan *world_plan(const struct world *world) {
    struct cp_plan *plan;
    if (cp_plan_new(&plan) != CP_OK) {
        fuzz_fail("no memory for a plan");
    }
    cp_plan_build(plan, world->tree);
    return plan;
}

struct shape world_shape(const struct format_problem *problem) {
    return (struct shape){.chunk_size = problem->chunk_size,
                          .n_heads = problem->n_kv_heads * problem->group,
                          .n_kv_heads = problem->n_kv_heads,
                          .head_dim = problem->head_dim,
                          .q_type = problem->q_type,
                          .kv_type = problem->kv_type,
                          .out_type = problem->out_type,
                          .query_mode = problem->query_mode,
                          .values = problem->values,
                          .poison = problem->poison};
}
