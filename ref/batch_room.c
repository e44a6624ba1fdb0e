/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a chunk, and what may leave (BATCH-2, BATCH-6). An example, with a pool of four chunks:
 *
 *     item   chunks  users  taken         make_room(2) with one free chunk: B leaves, which was
 *     A      1       1      1             taken before C; A has a user. make_room(4): even if B
 *     B      1       0      2             and C left, three chunks would be free: neither does.
 *     C      1       0      3                                                                  */
#include "batch_internal.h"

int cp_batch_take(struct cp_batch *batch, int owner, int run) {
    int chunk = cp_pool_take(&batch->pool);
    batch->owner[chunk] = (struct cp_owner){owner, run};
    return chunk;
}

void cp_batch_remove(struct cp_batch *batch, int item) {
    for (int k = 0; k < batch->item[item].n_runs; k++) {
        cp_pool_release(&batch->pool, batch->runs[item].run[k].chunk);
    }
    batch->item[item].n_runs = 0;
}

static int may_leave(const struct cp_item *item) {
    return item->n_runs > 0 && item->n_users == 0;
}

int cp_batch_least_recent(const struct cp_batch *batch) {
    int found = -1;
    for (int i = 0; i < batch->n_items; i++) {
        if (may_leave(&batch->item[i]) &&
            (found < 0 || batch->item[i].taken < batch->item[found].taken)) {
            found = i;
        }
    }
    return found;
}

int cp_batch_make_room(struct cp_batch *batch, int n) {
    int room = batch->pool.n_free;
    for (int i = 0; i < batch->n_items && room < n; i++) {
        room += may_leave(&batch->item[i]) ? batch->item[i].n_runs : 0;
    }
    if (room < n) {
        return CP_ERROR_POOL_FULL;
    }
    while (batch->pool.n_free < n) {
        cp_batch_remove(batch, cp_batch_least_recent(batch));
    }
    return CP_OK;
}
