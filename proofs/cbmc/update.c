/* SPDX-License-Identifier: Apache-2.0 */
/* A plan is kept over one append and brought up to date. (The other operations always count an
 * epoch, see theirs, and the plan is then built anew; that of opt/ follows them, see follow.c.) */
#include "model.h"

static int same_sequence(const struct cp_plan_sequence *a, const struct cp_plan_sequence *b) {
    int same =
        a->n_tokens == b->n_tokens && a->n_chunks == b->n_chunks && a->n_shared == b->n_shared;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        same = same && (k >= a->n_chunks || (a->run[k].chunk == b->run[k].chunk &&
                                             a->run[k].n_tokens == b->run[k].n_tokens &&
                                             a->run[k].position == b->run[k].position));
    }
    return same;
}

/* The same in all that has a meaning. */
static int same_plan(const struct cp_plan *a, const struct cp_plan *b) {
    int same = cp_plan_is_current(a, b->stamp) && a->capacity == b->capacity &&
               a->chunk_size == b->chunk_size && a->n_sequences == b->n_sequences &&
               plan_same_descriptors(a, b);
    same = same && a->n_served == b->n_served;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        same = same && (s >= a->n_sequences || (a->served[s] == b->served[s] &&
                                                same_sequence(&a->sequence[s], &b->sequence[s])));
    }
    return same;
}

void step_update(struct cp_tree *tree) {
    struct cp_plan plan, fresh;
    cp_plan_build(&plan, tree);
    int n_free = tree->pool.n_free;
    int status = cp_tree_append(tree, nondet_int(), any_token());
    int added = tree->pool.n_free < n_free;
    CHECK("PLAN-5: stale after a change, and only then",
          cp_plan_is_current(&plan, tree->stamp) == (status != CP_OK));

    struct cp_stamp other_stamp = {nondet_count(), nondet_count(), nondet_count()};
    int same_stamp = plan.stamp.tree == other_stamp.tree && plan.stamp.epoch == other_stamp.epoch &&
                     plan.stamp.step == other_stamp.step;
    CHECK("PLAN-5: current for its own stamp alone",
          cp_plan_is_current(&plan, other_stamp) == same_stamp);
    REACH("its own stamp", same_stamp);

    int foreign = nondet_bool(); /* a plan that was made of another tree */
    if (foreign) {
        unsigned long long other = nondet_count();
        __CPROVER_assume(other != tree->stamp.tree);
        plan.stamp.tree = other;
    }

    int rebuilt = cp_plan_update(&plan, tree);

    cp_plan_build(&fresh, tree);
    CHECK("PLAN-6: rebuilt exactly when a path or a range has changed, or all is another tree's",
          rebuilt == (added || foreign));
    CHECK("PLAN-6: as if built now", same_plan(&plan, &fresh));
    REACH("nothing has changed", status != CP_OK && !foreign);
    REACH("of another tree, and nothing has changed", status != CP_OK && foreign);
    REACH("rebuilt", added && !foreign && plan.n_shared > 0);
#if CHUNK_SIZE > 1
    REACH("lengths only", status == CP_OK && !rebuilt && plan.n_shared > 0);
#endif
}
