/* SPDX-License-Identifier: Apache-2.0 */
/* cp_batch_drop() (BATCH-7). */
#include "batch.h"

#include <stddef.h>

void step_batch_drop(struct cp_batch *batch) {
    struct cp_batch old = *batch;
    unsigned long long name = (unsigned)any(3);
    int number = (int)(name % CP_MAX_ITEMS);
    int there = number < batch->n_items && batch->item[number].n_runs > 0 &&
                batch->item[number].name == name;
    int wrong = !there || batch->item[number].n_users > 0;

    int status = cp_batch_drop(batch, name);

    CHECK("BATCH-7: the error where it is due", status == (wrong ? CP_ERROR_ARGUMENT : CP_OK));
    CHECK("valid", is_valid(batch));
    CHECK("an error changes nothing", status == CP_OK || batch_same(&old, batch));
    if (status == CP_OK) {
        int p = nondet_int(), item = nondet_int(), x = any(4);
        CHECK("BATCH-7: it is not there", cp_batch_find(batch, name) == -1);
        CHECK("BATCH-7: its chunks",
              batch->pool.n_free == old.pool.n_free + old.item[number].n_runs);
        CHECK("PLAN-5: stamp",
              batch->stamp.epoch == old.stamp.epoch && batch->stamp.step == old.stamp.step);
        __CPROVER_assume(0 <= item && item < old.n_items && item != number);
        CHECK("the other items", batch->item[item].n_runs == old.item[item].n_runs &&
                                     item_place(&old, item, x) == item_place(batch, item, x));
        __CPROVER_assume(0 <= p && p < old.n_prompts);
        CHECK("the prompts", batch->n_prompts == old.n_prompts && prompt_same(&old, p, batch, p));
    }
    REACH("beside a prompt", status == CP_OK && old.n_prompts == 1 && old.prompt[0].n_items == 1);
    REACH("two runs", status == CP_OK && old.item[number].n_runs == 2);
    REACH("it has users", status == CP_ERROR_ARGUMENT && there);
    REACH("another has its number", status == CP_ERROR_ARGUMENT && !there && number < old.n_items &&
                                        old.item[number].n_runs > 0);
}
