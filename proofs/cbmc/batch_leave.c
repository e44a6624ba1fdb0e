/* SPDX-License-Identifier: Apache-2.0 */
/* cp_batch_leave() (BATCH-7). */
#include "batch.h"

#include <stddef.h>

void step_batch_leave(struct cp_batch *batch) {
    struct cp_batch old = *batch;
    int p = any(2) - 1;
    int there = 0 <= p && p < batch->n_prompts;

    int status = cp_batch_leave(batch, p);

    CHECK("BATCH-7: the error where it is due", status == (there ? CP_OK : CP_ERROR_ARGUMENT));
    CHECK("valid", is_valid(batch));
    CHECK("an error changes nothing", status == CP_OK || batch_same(&old, batch));
    if (status == CP_OK) {
        int q = nondet_int(), item = nondet_int(), x = any(4);
        CHECK("BATCH-7: its own chunks",
              batch->pool.n_free == old.pool.n_free + old.prompt[p].n_own);
        CHECK("PLAN-5: stamp",
              batch->stamp.epoch == old.stamp.epoch + 1 && batch->stamp.step == old.stamp.step);
        __CPROVER_assume(0 <= item && item < old.n_items);
        CHECK("BATCH-7: the items",
              batch->n_items == old.n_items && batch->item[item].name == old.item[item].name &&
                  batch->item[item].n_runs == old.item[item].n_runs &&
                  batch->item[item].taken == old.item[item].taken &&
                  batch->item[item].n_users == old.item[item].n_users - prompt_has(&old, p, item) &&
                  item_place(&old, item, x) == item_place(batch, item, x));
        CHECK("BATCH-7: a prompt less", batch->n_prompts == old.n_prompts - 1);
        __CPROVER_assume(0 <= q && q < batch->n_prompts);
        CHECK("BATCH-7: the last one takes the number",
              prompt_same(&old, q == p ? old.n_prompts - 1 : q, batch, q));
    }
    REACH("the last one", status == CP_OK && p == CP_MAX_SEQUENCES - 1);
    REACH("another", status == CP_OK && p == 0 && old.n_prompts == CP_MAX_SEQUENCES);
    REACH("with an item of both", status == CP_OK && old.n_prompts == 2 && prompt_has(&old, 0, 1) &&
                                      prompt_has(&old, 1, 1));
    REACH("with an own run", status == CP_OK && old.prompt[p].n_own == 1);
    REACH("nothing is left", status == CP_OK && batch->pool.n_free == CP_MAX_CHUNKS);
    REACH("no such prompt", status == CP_ERROR_ARGUMENT && p == old.n_prompts);
}
