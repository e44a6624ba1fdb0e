/* SPDX-License-Identifier: Apache-2.0 */
/* cp_batch_append() (BATCH-8). */
#include "batch.h"

#include <limits.h>
#include <stddef.h>

/* RUNS-8: is the position behind the last own run, whose chunk is not full? */
static int grows(const struct cp_batch *batch, int p, int position) {
    int found = 0;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        struct cp_run run = batch->prompt[p].own[k];
        found |= k == batch->prompt[p].n_own - 1 && run.n_tokens < CHUNK_SIZE &&
                 run.position + run.n_tokens == position;
    }
    return found;
}

void step_batch_append(struct cp_batch *batch) {
    struct cp_batch old = *batch;
    int p = any(2) - 1, position = nondet_bool() ? any(4) - 1 : INT_MAX - (nondet_bool() ? 1 : 0);
    int chunk = 77, slot = 77;
    int there = 0 <= p && p < batch->n_prompts;
    int wrong =
        !there || position < 0 || position == INT_MAX || prompt_place(batch, p, position) >= 0;
    int is_new = !wrong && !grows(batch, p, position);
    int is_long = is_new && prompt_runs(batch, p) == CP_MAX_DEPTH;
    int is_full = is_new && !is_long && room(batch, NULL, 0) < 1;

    int status = cp_batch_append(batch, p, position, &chunk, &slot);

    CHECK("BATCH-8: each error where it is due", status == (wrong     ? CP_ERROR_ARGUMENT
                                                            : is_long ? CP_ERROR_TOO_LONG
                                                            : is_full ? CP_ERROR_POOL_FULL
                                                                      : CP_OK));
    CHECK("valid", is_valid(batch));
    CHECK("an error changes nothing",
          status == CP_OK || (batch_same(&old, batch) && chunk == 77 && slot == 77));
    if (status == CP_OK) {
        int x = nondet_bool() ? position : any(4), q = nondet_int();
        int place = chunk * CHUNK_SIZE + slot;
        CHECK("BATCH-8: where the token is",
              0 <= chunk && chunk < CP_MAX_CHUNKS && 0 <= slot && slot < CHUNK_SIZE);
        CHECK("BATCH-8: the tokens",
              prompt_place(batch, p, x) == (x == position ? place : prompt_place(&old, p, x)));
        CHECK("RUNS-8: a run begins only where none grows",
              batch->prompt[p].n_own == old.prompt[p].n_own + is_new);
        CHECK("a token more", batch->prompt[p].n_tokens == old.prompt[p].n_tokens + 1);
        CHECK("BATCH-6: the others", others_ok(&old, batch));
        CHECK("BATCH-6: none leaves in vain",
              batch->pool.n_free == old.pool.n_free - is_new || old.pool.n_free == 0);
        CHECK("PLAN-5: stamp", batch->stamp.epoch == old.stamp.epoch + (unsigned)is_new &&
                                   batch->stamp.step == old.stamp.step + 1);
        __CPROVER_assume(0 <= q && q < old.n_prompts && q != p);
        CHECK("the other prompts",
              batch->n_prompts == old.n_prompts && prompt_same(&old, q, batch, q));
    }
    REACH("grows", status == CP_OK && !is_new && slot == 1);
    REACH("begins behind a gap", status == CP_OK && is_new && old.prompt[p].n_own == 1 &&
                                     old.prompt[p].own[0].n_tokens == 1);
    REACH("begins behind a full chunk", status == CP_OK && is_new && old.prompt[p].n_own == 1 &&
                                            old.prompt[p].own[0].n_tokens == CHUNK_SIZE &&
                                            position == old.prompt[p].own[0].position + 2);
    REACH("before an item", status == CP_OK && old.prompt[p].n_items == 1 && position == 0);
    REACH("one leaves", status == CP_OK && is_new && old.pool.n_free == 0);
    REACH("the largest position", status == CP_OK && position == INT_MAX - 1);
    REACH("argument: an item has the position",
          status == CP_ERROR_ARGUMENT && there && position == 1 && old.prompt[p].n_own == 0);
    REACH("too long", status == CP_ERROR_TOO_LONG);
    REACH("full", status == CP_ERROR_POOL_FULL);
}
