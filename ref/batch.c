/* SPDX-License-Identifier: Apache-2.0 */
/* Items in a pool: put and drop (BATCH-4, BATCH-7). */
#include "batch_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/batch_item.h"
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
        if (!cp_span_is_valid(spans[i]) || !cp_span_is_apart(spans, i)) {
            return 0;
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

/* A number for one item more. Where CP_MAX_ITEMS are there, one leaves (BATCH-6). */
/*@
  requires valid: \valid(batch);
  requires ok: batch_ok(*batch) && number_exists(*batch);
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->item[0 .. CP_MAX_ITEMS - 1];
  ensures ok: batch_ok(*batch);
  ensures number: 0 <= \result < CP_MAX_ITEMS && \result <= batch->n_items &&
    number_is_free(*batch, \result);
  ensures batch_6_left: number_made(\old(*batch), *batch, \result);
*/
static int make_number(struct cp_batch *batch) {
    int number = free_number(batch);
    if (number < 0) {
        number = cp_batch_least_recent(batch);
        //@ ghost struct cp_batch before = *batch;
        //@ assert owned: runs_owned(*batch, number);
        cp_batch_remove(batch, number);
        //@ assert left: item_left(before, *batch, number);
        //@ assert rest: rest_same(before, *batch);
        //@ assert owners: owners_keep(before, *batch);
        //@ assert items: items_left(before, *batch);
        //@ assert freed: left_free(before, *batch);
        //@ ghost left_is_ok(before, *batch);
    }
    return number;
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
    //@ ghost struct cp_batch before = *batch;
    long long n_runs = cp_spans_runs(spans, n_spans, batch->chunk_size);
    if (n_runs > CP_MAX_DEPTH || (free_number(batch) < 0 && cp_batch_least_recent(batch) < 0)) {
        //@ assert long: !put_fits(*batch, spans, n_spans);
        return CP_ERROR_TOO_LONG;
    }
    //@ assert exists: number_exists(*batch);
    if (cp_batch_make_room(batch, (int)n_runs) != CP_OK) {
        return CP_ERROR_POOL_FULL;
    }
    //@ assert rest: rest_same(before, *batch);
    //@ ghost left_is_ok(before, *batch);
    //@ assert exists_still: number_exists(*batch);
    //@ ghost struct cp_batch room = *batch;
    int number = make_number(batch);
    //@ ghost struct cp_batch with = *batch;
    batch->n_items += number == batch->n_items;
    batch->clock++;
    batch->item[number] = (struct cp_item){
        .name = batch->clock * CP_MAX_ITEMS + (unsigned long long)number,
        .taken = batch->clock,
    };
    //@ assert items: items_alike(with, *batch);
    //@ assert runs: runs_kept(with, *batch, CP_MAX_ITEMS);
    //@ assert rest_alike: prompts_same(with, *batch) && owners_same(with, *batch);
    //@ assert alike: batch_alike(with, *batch);
    //@ ghost alike_is_ok(with, *batch);
    //@ ghost nobody_has(*batch, number);
    //@ ghost struct cp_batch begun = *batch;
    //@ assert clock: batch->clock == before.clock + 1 <= 0xFFFFFFFFFFFFFFFF / CP_MAX_ITEMS;
    //@ assert name: batch->item[number].name == batch->clock * CP_MAX_ITEMS + number;
    //@ assert named: batch->item[number].name % CP_MAX_ITEMS == number;
    //@ assert few: spans_runs(spans, n_spans, batch->chunk_size) == n_runs <= CP_MAX_DEPTH;
    //@ assert empty: batch->item[number].n_runs == 0 && no_prompt_has(*batch, number);
    //@ assert takes: owner_takes(*batch, number, n_runs);
    cp_batch_add_spans(batch, number, spans, n_spans);
    //@ ghost spans_runs_some(spans, n_spans, batch->chunk_size);
    *name = batch->item[number].name;
    //@ assert number: *name % CP_MAX_ITEMS == number;
    /*@ assert kept: \forall integer j; 0 <= j < CP_MAX_ITEMS ==> j != number ==>
          item_kept(begun, *batch, number, j) && item_same(with, *batch, j); */
    //@ ghost put_in_order(before, room, with, *batch, number);
    /*@ assert prompts: \forall integer p; 0 <= p < CP_MAX_SEQUENCES ==>
          batch->prompt[p] == before.prompt[p]; */
    //@ assert others: runs_kept(before, *batch, number);
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
