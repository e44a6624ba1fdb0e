/* SPDX-License-Identifier: Apache-2.0 */
/* cp_batch_plan() (BATCH-9): of a batch, and again when it has changed. */
#include "batch.h"

#include <stddef.h>

/* Where the plan has the token of a position. */
static int plan_place(const struct cp_plan *plan, int s, int position) {
    int place = -1;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        struct cp_run run = plan->sequence[s].run[k];
        int is_in = k < plan->sequence[s].n_chunks && run.position <= position &&
                    position - run.position < run.n_tokens;
        place = is_in ? run.chunk * CHUNK_SIZE + position - run.position : place;
    }
    return place;
}

/* How many descriptors have the chunk, and do they serve prompt s? */
static int described(const struct cp_plan *plan, int chunk, int s, int *served) {
    int n = 0;
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        int is_it = i < plan->n_shared && plan->shared[i].chunk == chunk;
        n += is_it;
        for (int at = 0; at < CP_MAX_SERVED; at++) {
            *served += is_it && plan->shared[i].begin <= at && at < plan->shared[i].end &&
                       plan->served[at] == s;
        }
    }
    return n;
}

static void check_plan(const struct cp_batch *batch, const struct cp_plan *plan) {
    int s = nondet_int(), item = nondet_int(), k = nondet_int(), x = any(4), served = 0;
    CHECK("BATCH-9: a valid plan of runs", cp_plan_check_runs(plan) == NULL);
    CHECK("BATCH-9: its sizes", plan->n_sequences == batch->n_prompts &&
                                    plan->capacity == CP_MAX_CHUNKS &&
                                    plan->chunk_size == CHUNK_SIZE);
    CHECK("PLAN-5: its stamp", plan->stamp.tree == batch->stamp.tree &&
                                   plan->stamp.epoch == batch->stamp.epoch &&
                                   plan->stamp.step == batch->stamp.step);
    __CPROVER_assume(0 <= s && s < batch->n_prompts);
    CHECK("BATCH-9: the tokens", plan->sequence[s].n_tokens == batch->prompt[s].n_tokens &&
                                     plan_place(plan, s, x) == prompt_place(batch, s, x));
    __CPROVER_assume(0 <= item && item < batch->n_items && 0 <= k);
    __CPROVER_assume(k < batch->item[item].n_runs);
    int n = described(plan, batch->runs[item].run[k].chunk, s, &served);
    CHECK("BATCH-9: described where two have it", n == (batch->item[item].n_users >= 2));
    CHECK("BATCH-9: for those that have it", served == (n > 0 && prompt_has(batch, s, item)));
}

void step_batch_plan(struct cp_batch *batch) {
    struct cp_plan plan; /* any content */
    __CPROVER_assume(plan.stamp.tree != batch->stamp.tree ||
                     plan.stamp.epoch != batch->stamp.epoch);
    CHECK("BATCH-9: a new plan", cp_batch_plan(batch, &plan) == 1);
    REACH("an item of two", plan.n_shared == 1 && batch->n_prompts == 2);
    REACH("two runs of two", plan.n_shared == 2 && batch->n_prompts == 2);
    REACH("an item of one", plan.n_shared == 0 && batch->n_prompts == 1 &&
                                batch->prompt[0].n_items == 1 && batch->prompt[0].n_own == 1);
    REACH("no prompt", batch->n_prompts == 0 && batch->n_items == CP_MAX_ITEMS);
#ifndef AGAIN
    check_plan(batch, &plan);
#else
    int p = any(2), position = any(4), chunk, slot;
    unsigned long long epoch = batch->stamp.epoch;
    __CPROVER_assume(cp_batch_append(batch, p, position, &chunk, &slot) == CP_OK);
    int is_new = epoch != batch->stamp.epoch;
    CHECK("BATCH-9: all of it when a run began", cp_batch_plan(batch, &plan) == is_new);
    check_plan(batch, &plan);
    REACH("again, grown", !is_new);
    REACH("again, begun", is_new);
#endif
}
