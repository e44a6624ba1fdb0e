/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a batch (BATCH-9). The example of spec/batch.md, with chunks of 4:
 *
 *     item  prompts  1. served  2. shared                         3. run[], own runs behind the bar
 *     A     P0 P1    0 1        (C0, 0, 2, 4, 0) (C1, 0, 2, 2, 4)    P0  C0 C1 C2 | C5
 *     B     P0 P2    0 2        (C2, 2, 4, 4, 6)                     P1  C0 C1    | C6
 *     C     none                                                     P2  C2       | C7         */
#include "batch_internal.h"

static void add_run(struct cp_plan *plan, int s, struct cp_run run) {
    plan->sequence[s].run[plan->sequence[s].n_chunks++] = run;
}

/* 1. The prompts that have an item. */
static void list_users(const struct cp_batch *batch, int item, struct cp_plan *plan) {
    for (int s = 0; s < batch->n_prompts; s++) {
        if (cp_prompt_has_item(batch, s, item)) {
            plan->served[plan->n_served++] = s;
        }
    }
}

/* 2. and 3. The list served[begin .. n_served) gets the runs of the item. */
static void give_item(const struct cp_batch *batch, int item, int begin, struct cp_plan *plan) {
    for (int k = 0; k < batch->item[item].n_runs; k++) {
        struct cp_run run = batch->runs[item].run[k];
        plan->shared[plan->n_shared++] =
            (struct cp_shared_chunk){run.chunk, begin, plan->n_served, run.n_tokens, run.position};
        for (int at = begin; at < plan->n_served; at++) {
            add_run(plan, plan->served[at], run);
            plan->sequence[plan->served[at]].n_shared++;
        }
    }
}

/* 3. Items that the prompt has alone, and its own runs. */
static void give_own(const struct cp_batch *batch, int s, struct cp_plan *plan) {
    const struct cp_prompt *prompt = &batch->prompt[s];
    for (int i = 0; i < prompt->n_items; i++) {
        int item = prompt->item[i];
        for (int k = 0; k < batch->item[item].n_runs && batch->item[item].n_users == 1; k++) {
            add_run(plan, s, batch->runs[item].run[k]);
        }
    }
    for (int k = 0; k < prompt->n_own; k++) {
        add_run(plan, s, prompt->own[k]);
    }
}

static void build(const struct cp_batch *batch, struct cp_plan *plan) {
    plan->capacity = batch->pool.capacity;
    plan->chunk_size = batch->chunk_size;
    plan->n_sequences = batch->n_prompts;
    plan->n_served = plan->n_shared = 0;
    for (int s = 0; s < batch->n_prompts; s++) {
        plan->sequence[s].n_tokens = batch->prompt[s].n_tokens;
        plan->sequence[s].n_chunks = plan->sequence[s].n_shared = 0;
    }
    for (int i = 0; i < batch->n_items; i++) {
        if (batch->item[i].n_runs > 0 && batch->item[i].n_users >= 2) {
            int begin = plan->n_served;
            list_users(batch, i, plan);
            give_item(batch, i, begin, plan);
        }
    }
    for (int s = 0; s < batch->n_prompts; s++) {
        give_own(batch, s, plan);
    }
}

/* PLAN-6: since the plan was made, last own runs alone have grown. */
static void refresh(const struct cp_batch *batch, struct cp_plan *plan) {
    for (int s = 0; s < batch->n_prompts; s++) {
        const struct cp_prompt *prompt = &batch->prompt[s];
        struct cp_plan_sequence *sequence = &plan->sequence[s];
        sequence->n_tokens = prompt->n_tokens;
        if (prompt->n_own > 0) {
            sequence->run[sequence->n_chunks - 1].n_tokens =
                prompt->own[prompt->n_own - 1].n_tokens;
        }
    }
}

int cp_batch_plan(const struct cp_batch *batch, struct cp_plan *plan) {
    int is_same = plan->stamp.tree == batch->stamp.tree && plan->stamp.epoch == batch->stamp.epoch;
    plan->stamp = batch->stamp;
    if (is_same) {
        refresh(batch, plan);
        return 0;
    }
    build(batch, plan);
    return 1;
}
