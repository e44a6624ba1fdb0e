/* SPDX-License-Identifier: Apache-2.0 */
/* Items in a pool: put and drop (BATCH-4, BATCH-7). */
#include "batch_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/batch_keep.h"
#include "proofs/logic/batch_put.h"
#endif

void cp_batch_init(struct cp_batch *batch, int capacity, int chunk_size, unsigned long long name) {
    cp_pool_init(&batch->pool, capacity);
    batch->chunk_size = chunk_size;
    batch->n_items = 0;
    batch->n_prompts = 0;
    batch->clock = 0;
    batch->stamp = (struct cp_stamp){.tree = name};
}

/*@
  requires valid: \valid_read(spans + (0 .. n_spans - 1));
  assigns \nothing;
  ensures spans: \result != 0 <==> spans_to_put(spans, n_spans);
*/
static int spans_are_valid(const struct cp_span *spans, int n_spans) {
    /*@ loop invariant i: 0 <= i && (0 <= n_spans ==> i <= n_spans);
        loop invariant spans: spans_ok(spans, i) && spans_all_apart(spans, i);
        loop assigns i; loop variant n_spans - i; */
    for (int i = 0; i < n_spans; i++) {
        if (!cp_span_is_valid(spans[i])) {
            return 0;
        }
        /*@ loop invariant j: 0 <= j <= i;
            loop invariant apart: \forall integer h; 0 <= h < j ==> spans_apart(spans[h], spans[i]);
            loop assigns j; loop variant i - j; */
        for (int j = 0; j < i; j++) {
            //@ assert counts: span_ok(spans[j]) && span_ok(spans[i]);
            if (!cp_spans_are_apart(spans[j], spans[i])) {
                return 0;
            }
        }
    }
    return n_spans >= 1;
}

/* The number of an item that is not there; -1: there are CP_MAX_ITEMS. */
/*@
  requires valid: \valid_read(batch);
  requires items: 0 <= batch->n_items <= CP_MAX_ITEMS;
  assigns \nothing;
  ensures result: -1 <= \result < CP_MAX_ITEMS && \result <= batch->n_items;
  ensures lowest: 0 <= \result ==> number_is_free(*batch, \result);
  ensures none: \result == -1 ==>
    batch->n_items == CP_MAX_ITEMS && items_all_there(*batch, CP_MAX_ITEMS);
*/
static int free_number(const struct cp_batch *batch) {
    /*@ loop invariant i: 0 <= i <= batch->n_items;
        loop invariant there: items_all_there(*batch, i);
        loop assigns i; loop variant batch->n_items - i; */
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
    //@ ghost users_are_bound(*batch);
    //@ assert users: 0 <= number ==> item_counted(*batch, number);
    if (number < 0 || batch->item[number].n_users > 0) {
        return CP_ERROR_ARGUMENT;
    }
    //@ ghost struct cp_batch before = *batch;
    //@ assert owned: runs_owned(*batch, number);
    cp_batch_remove(batch, number);
    //@ assert left: item_left(before, *batch, number);
    //@ assert rest: rest_same(before, *batch);
    //@ assert owners: owners_keep(before, *batch);
    //@ assert items: items_left(before, *batch);
    //@ assert freed: left_free(before, *batch);
    //@ ghost left_is_ok(before, *batch);
    return CP_OK;
}
