/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a chunk, and what may leave (BATCH-2, BATCH-6). An example, with a pool of four chunks:
 *
 *     item   chunks  users  taken         make_room(2) with one free chunk: B leaves, which was
 *     A      1       1      1             taken before C; A has a user. make_room(4): even if B
 *     B      1       0      2             and C left, three chunks would be free: neither does.
 *     C      1       0      3                                                                  */
#include "batch_internal.h"

/* BATCH-6: what may leave of the first n items is not more than of all. */
/*@ ghost
  /@ requires items: items_owned(b) && 0 <= n <= b.n_items;
     assigns \nothing;
     ensures rises: 0 <= room_of(b, n) <= room_of(b, b.n_items); @/
  void room_rises(struct cp_batch b, int n) {
    /@ loop invariant i: 0 <= i <= b.n_items;
       loop invariant some: 0 <= room_of(b, i);
       loop invariant rises: n <= i ==> 0 <= room_of(b, n) <= room_of(b, i);
       loop assigns i; loop variant b.n_items - i; @/
    for (int i = 0; i < b.n_items; i++) {
      /@ assert owned: runs_owned(b, i); @/
      /@ assert next: may_leave(b, i) || !may_leave(b, i); @/
    }
  }

  /@ requires items: 0 <= b.n_items;
     requires none: \forall integer i; 0 <= i < b.n_items ==> !may_leave(b, i);
     assigns \nothing;
     ensures room: room_of(b, b.n_items) == 0; @/
  void no_room(struct cp_batch b) {
    /@ loop invariant i: 0 <= i <= b.n_items;
       loop invariant room: room_of(b, i) == 0;
       loop assigns i; loop variant b.n_items - i; @/
    for (int i = 0; i < b.n_items; i++) {
      /@ assert next: !may_leave(b, i); @/
    }
  }

  /@ requires item: 0 <= item < a.n_items <= CP_MAX_ITEMS && b.n_items == a.n_items;
     requires may: may_leave(a, item);
     requires removed: item_removed(a, b, item);
     assigns \nothing;
     ensures room: room_of(b, b.n_items) == room_of(a, a.n_items) - a.item[item].n_runs; @/
  void room_is_less(struct cp_batch a, struct cp_batch b, int item) {
    /@ loop invariant i: 0 <= i <= b.n_items;
       loop invariant room: room_of(b, i) ==
         room_of(a, i) - (item < i ? a.item[item].n_runs : 0);
       loop assigns i; loop variant b.n_items - i; @/
    for (int i = 0; i < b.n_items; i++) {
      /@ assert same: i != item ==> item_same(a, b, i); @/
      /@ assert may: i != item ==> (may_leave(a, i) <==> may_leave(b, i)); @/
      /@ assert gone: i == item ==> !may_leave(b, i); @/
    }
  }
*/

int cp_batch_take(struct cp_batch *batch, int owner, int run) {
    int chunk = cp_pool_take(&batch->pool);
    batch->owner[chunk] = (struct cp_owner){owner, run};
    return chunk;
}

void cp_batch_release(struct cp_batch *batch, int owner) {
    /*@ loop invariant k: 0 <= k <= owner_runs(*batch, owner);
        loop invariant ok: pool_ok(batch->pool);
        loop invariant n_free: batch->pool.n_free == \at(batch->pool.n_free, Pre) + k;
        loop invariant left: chunks_left(\at(*batch, Pre), *batch);
        loop invariant freed: runs_free(*batch, owner, k);
        loop invariant owned: \forall integer j; k <= j < owner_runs(*batch, owner) ==>
          pool_used(batch->pool, owner_chunk(*batch, owner, j));
        loop invariant others: \forall integer x; pool_used(\at(batch->pool, Pre), x) ==>
          batch->owner[x].owner != owner ==> pool_used(batch->pool, x);
        loop assigns k, batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
          batch->pool.pos[0 .. CP_MAX_CHUNKS - 1];
        loop variant owner_runs(*batch, owner) - k; */
    for (int k = 0; k < cp_batch_n_runs(batch, owner); k++) {
        //@ assert run: run_owned(\at(*batch, Pre), owner, k);
        cp_pool_release(&batch->pool, cp_batch_run(batch, owner, k).chunk);
    }
}

void cp_batch_remove(struct cp_batch *batch, int item) {
    cp_batch_release(batch, item);
    batch->item[item].n_runs = 0;
}

/*@
  requires valid: \valid_read(item);
  assigns \nothing;
  ensures result: \result != 0 <==> item->n_runs > 0 && item->n_users == 0;
*/
static int may_leave(const struct cp_item *item) {
    return item->n_runs > 0 && item->n_users == 0;
}

int cp_batch_least_recent(const struct cp_batch *batch) {
    int found = -1;
    /*@ loop invariant i: 0 <= i <= batch->n_items;
        loop invariant found: -1 <= found < i;
        loop invariant may: 0 <= found ==> may_leave(*batch, found);
        loop invariant first: \forall integer j; 0 <= j < i ==> may_leave(*batch, j) ==>
          0 <= found && batch->item[found].taken <= batch->item[j].taken;
        loop assigns i, found; loop variant batch->n_items - i; */
    for (int i = 0; i < batch->n_items; i++) {
        if (may_leave(&batch->item[i]) &&
            (found < 0 || batch->item[i].taken < batch->item[found].taken)) {
            found = i;
        }
    }
    return found;
}

int cp_batch_make_room(struct cp_batch *batch, int n) {
    //@ ghost struct cp_batch before = *batch;
    //@ ghost room_rises(*batch, 0);
    int room = batch->pool.n_free;
    /*@ loop invariant i: 0 <= i <= batch->n_items;
        loop invariant room: room == batch->pool.n_free + room_of(*batch, i);
        loop invariant bound: 0 <= room <= batch->pool.n_free + i * CP_MAX_DEPTH;
        loop invariant rises: room_of(*batch, i) <= room_of(*batch, batch->n_items);
        loop assigns i, room; loop variant batch->n_items - i; */
    for (int i = 0; i < batch->n_items && room < n; i++) {
        //@ assert owned: runs_owned(*batch, i);
        room += may_leave(&batch->item[i]) ? batch->item[i].n_runs : 0;
        //@ ghost room_rises(*batch, i + 1);
    }
    if (room < n) {
        return CP_ERROR_POOL_FULL;
    }
    /*@ loop invariant ok: pool_ok(batch->pool) && items_owned(*batch);
        loop invariant room: batch->pool.n_free + room_of(*batch, batch->n_items) >= n;
        loop invariant chunks: chunks_left(before, *batch);
        loop invariant owners: owners_keep(before, *batch);
        loop invariant items: items_left(before, *batch);
        loop invariant freed: left_free(before, *batch);
        loop invariant order: left_in_order(before, *batch);
        loop invariant last: left_for(before, *batch, n);
        loop assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
          batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->item[0 .. CP_MAX_ITEMS - 1];
        loop variant n - batch->pool.n_free; */
    while (batch->pool.n_free < n) {
        //@ ghost struct cp_batch with = *batch;
        int item = cp_batch_least_recent(batch);
        //@ ghost if (item < 0) { no_room(*batch); }
        //@ assert there: leaves_first(*batch, item);
        cp_batch_remove(batch, item);
        //@ ghost room_is_less(with, *batch, item);
    }
    return CP_OK;
}
