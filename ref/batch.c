/* SPDX-License-Identifier: Apache-2.0 */
/* Items in a pool: put and drop (BATCH-4, BATCH-7). */
#include "batch_internal.h"

void cp_batch_init(struct cp_batch *batch, int capacity, int chunk_size, unsigned long long name) {
    cp_pool_init(&batch->pool, capacity);
    batch->chunk_size = chunk_size;
    batch->n_items = 0;
    batch->n_prompts = 0;
    batch->clock = 0;
    batch->stamp = (struct cp_stamp){.tree = name};
}

static int spans_are_valid(const struct cp_span *spans, int n_spans) {
    for (int i = 0; i < n_spans; i++) {
        if (!cp_span_is_valid(spans[i])) {
            return 0;
        }
        for (int j = 0; j < i; j++) {
            if (!cp_spans_are_apart(spans[j], spans[i])) {
                return 0;
            }
        }
    }
    return n_spans >= 1;
}

/* The number of an item that is not there; -1: there are CP_MAX_ITEMS. */
static int free_number(const struct cp_batch *batch) {
    for (int i = 0; i < batch->n_items; i++) {
        if (batch->item[i].n_runs == 0) {
            return i;
        }
    }
    return batch->n_items < CP_MAX_ITEMS ? batch->n_items : -1;
}

/* RUNS-1: cuts a span into runs behind those that the item has. */
static void add_span(struct cp_batch *batch, int item, struct cp_span span) {
    struct cp_item *to = &batch->item[item];
    for (int left = span.n_tokens; left > 0; left -= batch->chunk_size) {
        int chunk = cp_batch_take(batch, item, to->n_runs);
        batch->runs[item].run[to->n_runs++] =
            (struct cp_run){chunk, left < batch->chunk_size ? left : batch->chunk_size,
                            span.position + span.n_tokens - left};
    }
}

int cp_batch_find(const struct cp_batch *batch, unsigned long long name) {
    int number = (int)(name % CP_MAX_ITEMS);
    return number < batch->n_items && batch->item[number].n_runs > 0 &&
                   batch->item[number].name == name
               ? number
               : -1;
}

int cp_batch_put(struct cp_batch *batch, const struct cp_span *spans, int n_spans,
                 unsigned long long *name) {
    if (!spans_are_valid(spans, n_spans)) {
        return CP_ERROR_ARGUMENT;
    }
    long long n_runs = cp_spans_runs(spans, n_spans, batch->chunk_size);
    if (n_runs > CP_MAX_DEPTH || (free_number(batch) < 0 && cp_batch_least_recent(batch) < 0)) {
        return CP_ERROR_TOO_LONG;
    }
    if (cp_batch_make_room(batch, (int)n_runs) != CP_OK) {
        return CP_ERROR_POOL_FULL;
    }
    if (free_number(batch) < 0) { /* and none has left for its chunks */
        cp_batch_remove(batch, cp_batch_least_recent(batch));
    }
    int number = free_number(batch);
    batch->n_items += number == batch->n_items;
    batch->item[number].n_runs = 0;
    batch->item[number].n_users = 0;
    batch->item[number].taken = ++batch->clock;
    batch->item[number].name = batch->clock * CP_MAX_ITEMS + (unsigned long long)number;
    for (int i = 0; i < n_spans; i++) {
        add_span(batch, number, spans[i]);
    }
    *name = batch->item[number].name;
    return CP_OK;
}

int cp_batch_drop(struct cp_batch *batch, unsigned long long name) {
    int number = cp_batch_find(batch, name);
    if (number < 0 || batch->item[number].n_users > 0) {
        return CP_ERROR_ARGUMENT;
    }
    cp_batch_remove(batch, number);
    return CP_OK;
}
