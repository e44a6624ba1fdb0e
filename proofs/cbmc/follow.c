/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of opt/ that is right for any valid tree, brought up to date after one join, leave or
 * fork, is right for the tree after it. That the operation is right, and the tree valid after it,
 * its own harness asks. */
#include "model.h"

/* FOLLOW is leave, fork or join. */
#define GLUE(a, b)      a##b
#define NAMED(a, b)     GLUE(a, b)
#define DO              NAMED(do_, FOLLOW)
#define REACH_LABELS_OF NAMED(reach_, FOLLOW)

/* How many sequences this chunk has in the plan: 0 when it has no descriptor. */
static int covers(const struct cp_plan *plan, int chunk) {
    int n = 0;
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        const struct cp_shared_chunk *one = &plan->shared[i];
        n += i < plan->n_shared && one->chunk == chunk ? one->end - one->begin : 0;
    }
    return n;
}

/* Chunks that had so many sequences in the old plan, and have in the new one. */
static int went(const struct cp_plan *old, const struct cp_plan *new, int from, int to) {
    int n = 0;
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        n += covers(old, x) == from && covers(new, x) == to;
    }
    return n;
}

static void reach_leave(const struct cp_plan *old, const struct cp_plan *new, int s) {
    const struct cp_shared_chunk *one = &old->shared[0];
    int b = old->n_sequences;
    REACH("nothing shared", b == CP_MAX_SEQUENCES && old->n_shared == 0);
    REACH("the only sequence", b == 1);
    REACH("the first one, of a chunk that becomes private", s == 0 && went(old, new, 2, 0) > 0);
    REACH("the last one, of a chunk that becomes private", s == b - 1 && went(old, new, 2, 0) > 0);
#if CP_MAX_SEQUENCES > 2
    REACH("in front of a descriptor", old->n_shared == 1 && one->begin == 1 && s == 0);
    REACH("behind a descriptor", old->n_shared == 1 && one->end == 2 && s == 2);
    REACH("one goes on without its first", went(old, new, 3, 2) > 0 && s == 0);
    REACH("one goes on without one from inside", went(old, new, 3, 2) > 0 && s == 1);
    REACH("one goes on without its last", went(old, new, 3, 2) > 0 && s == 2);
#endif
#if CP_MAX_DEPTH > 1
    REACH("two become private", went(old, new, 2, 0) == 2);
#if CP_MAX_SEQUENCES > 2
    REACH("two go on", went(old, new, 3, 2) == 2);
    REACH("one becomes private, the one above goes on",
          went(old, new, 3, 2) == 1 && went(old, new, 2, 0) == 1);
    REACH("one begins with the one below it from now on",
          old->n_shared == 2 && old->shared[1].begin == 1 && s == 0);
#endif
#endif
}

/* Of a join, too. */
static void reach_fork(const struct cp_plan *old, const struct cp_plan *new, int s) {
    int b = old->n_sequences;
    REACH("nothing shared", b == CP_MAX_SEQUENCES - 1 && new->n_shared == 0);
    REACH("a new descriptor", went(old, new, 0, 2) == 1);
#if CP_MAX_SEQUENCES > 2
    REACH("a new descriptor in front of a sequence", went(old, new, 0, 2) > 0 && s < b);
    REACH("one goes on", went(old, new, 2, 3) == 1);
#endif
#if CP_MAX_SEQUENCES > 3
    REACH("a new descriptor in front of another", old->n_shared > 0 && s <= old->shared[0].begin);
#endif
#if CP_MAX_DEPTH > 1
    REACH("two new ones", went(old, new, 0, 2) == 2);
#if CP_MAX_SEQUENCES > 2
    REACH("two go on", went(old, new, 2, 3) == 2);
    REACH("a new one below one that goes on",
          went(old, new, 0, 2) == 1 && went(old, new, 2, 3) == 1);
#endif
#endif
}

static void reach_join(const struct cp_plan *old, const struct cp_plan *new, int s) {
    reach_fork(old, new, s);
#if CP_MAX_SEQUENCES > 2
    REACH("none goes on", old->n_shared > 0 && went(old, new, 2, 2) > 0);
#if CP_MAX_DEPTH > 1
    REACH("one goes on, the one below does not",
          went(old, new, 2, 3) == 1 && went(old, new, 2, 2) == 1);
#endif
#endif
}

/* Each returns the status, and writes the index that it is about. */
static int do_leave(struct cp_tree *tree, int *s) {
    *s = nondet_int();
    return cp_tree_leave(tree, *s);
}

static int do_fork(struct cp_tree *tree, int *s) {
    struct cp_forked forked = {-1, -1, -1};
    int status = cp_tree_fork(tree, nondet_int(), any(2), &forked);
    *s = forked.sequence;
    return status;
}

static int do_join(struct cp_tree *tree, int *s) {
    struct cp_joined joined = {-1, -1};
    struct prompt prompt;
    any_prompt(&prompt, tree);
    int status = cp_tree_join(tree, prompt.token, prompt.n_tokens, prompt.salt, any_id(),
                              prompt.hash, &joined);
    *s = joined.sequence;
    return status;
}

/* PLAN-1, PLAN-4: the shared chunks, by their first sequence, then from the root down. */
static void list_naively(struct cp_plan *plan, const struct flat *flat) {
    plan->n_sequences = flat->n_sequences;
    plan->n_shared = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            int x = flat->sequence[s].chunk[k];
            int owners = flat_owners(flat, x);
            if (s < flat->n_sequences && k < flat->sequence[s].n_chunks && owners >= 2 &&
                flat_end(flat, x) - owners == s) {
                struct cp_shared_chunk one = {x, s, s + owners, CHUNK_SIZE, k * CHUNK_SIZE};
                plan->shared[plan->n_shared++] = one;
            }
        }
    }
}

void step_follow(struct cp_tree *tree) {
    struct flat flat;
    struct cp_plan old, new, right;
    int s;
    flat_read(tree, &flat);
    list_naively(&old, &flat);
    old.stamp = tree->stamp;
    opt_plan_is(&old, tree);
    new = old;

    int status = DO(tree, &s);
    int changed = cp_plan_update(&new, tree);

    flat_read(tree, &flat);
    list_naively(&right, &flat);
    CHECK("PLAN-6: exactly when a path or a range has changed", changed == (status == CP_OK));
    CHECK("PLAN-5: it is current", cp_plan_is_current(&new, tree->stamp));
    CHECK("rows are in the order of the tree", opt_plan_has_order());
    CHECK("PLAN-1, PLAN-4: the descriptors of the tree", plan_same_descriptors(&new, &right));
    REACH("refused", status != CP_OK);
    if (status == CP_OK && s >= 0) {
        REACH_LABELS_OF(&old, &new, s);
    }
}
