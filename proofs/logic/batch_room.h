/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a chunk, and which items leave (BATCH-2, BATCH-6). Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_ROOM_H
#define CHUNKPROOF_LOGIC_BATCH_ROOM_H

#include "proofs/logic/batch.h"

/*@
  // BATCH-2: the chunk of run k of owner o is in use, and is that of this run.
  predicate run_owned(struct cp_batch b, integer o, integer k) =
    pool_used(b.pool, owner_chunk(b, o, k)) &&
    b.owner[owner_chunk(b, o, k)].owner == o && b.owner[owner_chunk(b, o, k)].run == k;
  predicate runs_owned(struct cp_batch b, integer o) =
    0 <= owner_runs(b, o) <= CP_MAX_DEPTH &&
    (\forall integer k; 0 <= k < owner_runs(b, o) ==> run_owned(b, o, k));
  predicate items_owned(struct cp_batch b) =
    0 <= b.n_items <= CP_MAX_ITEMS && (\forall integer i; 0 <= i < b.n_items ==> runs_owned(b, i));

  // Chunk x of b has the owner that it has in a.
  predicate owner_same(struct cp_batch a, struct cp_batch b, integer x) =
    b.owner[x].owner == a.owner[x].owner && b.owner[x].run == a.owner[x].run;
  // Chunk x, which was free in a, is that of run k of owner o in b; nothing else is new.
  predicate chunk_given(struct cp_batch a, struct cp_batch b, integer x, integer o, integer k) =
    pool_taken(a.pool, b.pool, x) && b.owner[x].owner == o && b.owner[x].run == k &&
    (\forall integer y; 0 <= y < CP_MAX_CHUNKS ==> y != x ==> owner_same(a, b, y));

  // Item i is there and has no users.
  predicate may_leave(struct cp_batch b, integer i) =
    b.item[i].n_runs > 0 && b.item[i].n_users == 0;
  // Item i may leave, and before any other.
  predicate leaves_first(struct cp_batch b, integer i) =
    0 <= i < b.n_items && may_leave(b, i) && (\forall integer j; 0 <= j < b.n_items ==>
      may_leave(b, j) ==> b.item[i].taken <= b.item[j].taken);

  // All but whether it is there is as it was in a, of item i.
  predicate item_named_same(struct cp_batch a, struct cp_batch b, integer i) =
    b.item[i].name == a.item[i].name && b.item[i].n_users == a.item[i].n_users &&
    b.item[i].taken == a.item[i].taken;
  predicate item_same(struct cp_batch a, struct cp_batch b, integer i) =
    item_named_same(a, b, i) && b.item[i].n_runs == a.item[i].n_runs;
  // Item i was there in a, without users, and is not there in b.
  predicate item_left(struct cp_batch a, struct cp_batch b, integer i) =
    may_leave(a, i) && item_named_same(a, b, i) && b.item[i].n_runs == 0;

  // Items may have left: a chunk is in use in b when it was in a, and is not an item's that left.
  predicate chunks_left(struct cp_batch a, struct cp_batch b) =
    b.pool.capacity == a.pool.capacity && (\forall integer x; pool_used(b.pool, x) ==>
      pool_used(a.pool, x));
  predicate owner_keeps(struct cp_batch a, struct cp_batch b, integer x) =
    pool_used(a.pool, x) ==> !pool_used(b.pool, x) ==>
      0 <= a.owner[x].owner < a.n_items && item_left(a, b, a.owner[x].owner);
  predicate owners_keep(struct cp_batch a, struct cp_batch b) =
    \forall integer x; owner_keeps(a, b, x);
  predicate runs_free(struct cp_batch b, integer o, integer n) =
    \forall integer k; 0 <= k < n ==> !pool_used(b.pool, owner_chunk(b, o, k));

  // The chunks of owner o are free, and no other one is.
  predicate chunks_given_back(struct cp_batch a, struct cp_batch b, integer o) =
    chunks_left(a, b) && b.pool.n_free == a.pool.n_free + owner_runs(a, o) &&
    (\forall integer x; pool_used(a.pool, x) ==> a.owner[x].owner != o ==> pool_used(b.pool, x)) &&
    (\forall integer k; 0 <= k < owner_runs(a, o) ==> !pool_used(b.pool, owner_chunk(a, o, k)));

  // Item i has left, alone.
  predicate item_removed(struct cp_batch a, struct cp_batch b, integer i) =
    chunks_left(a, b) && b.pool.n_free == a.pool.n_free + a.item[i].n_runs &&
    item_named_same(a, b, i) && b.item[i].n_runs == 0 &&
    (\forall integer j; 0 <= j < CP_MAX_ITEMS ==> j != i ==> item_same(a, b, j)) &&
    (\forall integer x; pool_used(a.pool, x) ==> a.owner[x].owner != i ==> pool_used(b.pool, x)) &&
    runs_free(b, i, a.item[i].n_runs);

  // BATCH-6: items without users have left, and nothing else; what stays was taken later.
  predicate items_left(struct cp_batch a, struct cp_batch b) =
    \forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(a, b, i) ||
      (i < a.n_items && item_left(a, b, i));
  predicate left_in_order(struct cp_batch a, struct cp_batch b) =
    \forall integer i, j; 0 <= i < a.n_items ==> 0 <= j < a.n_items ==> item_left(a, b, i) ==>
      may_leave(b, j) ==> a.item[i].taken <= a.item[j].taken;
  predicate left_free(struct cp_batch a, struct cp_batch b) =
    \forall integer i; 0 <= i < a.n_items ==> item_left(a, b, i) ==>
      runs_free(b, i, a.item[i].n_runs);
  // None has left in vain: without the last of them, fewer than n chunks would be free.
  predicate left_last(struct cp_batch a, struct cp_batch b, integer n, integer i) =
    0 <= i < a.n_items && item_left(a, b, i) && b.pool.n_free - a.item[i].n_runs < n &&
    (\forall integer j; 0 <= j < a.n_items ==> item_left(a, b, j) ==>
      a.item[j].taken <= a.item[i].taken);
  predicate left_for(struct cp_batch a, struct cp_batch b, integer n) =
    (\forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(a, b, i)) ||
    (\exists integer i; left_last(a, b, n, i));

  // BATCH-6: what may leave of the first n items has so many chunks.
  axiomatic RoomOf {
    logic integer room_of(struct cp_batch b, integer n);
    axiom room_of_0: \forall struct cp_batch b; room_of(b, 0) == 0;
    axiom room_of_yes: \forall struct cp_batch b, integer n; 0 <= n ==> may_leave(b, n) ==>
      room_of(b, n + 1) == room_of(b, n) + b.item[n].n_runs;
    axiom room_of_no: \forall struct cp_batch b, integer n; 0 <= n ==> !may_leave(b, n) ==>
      room_of(b, n + 1) == room_of(b, n);
  }

  // BATCH-6, all of it: b is a after room was made for n chunks.
  predicate room_made(struct cp_batch a, struct cp_batch b, integer n) =
    n <= b.pool.n_free && chunks_left(a, b) && owners_keep(a, b) && items_left(a, b) &&
    left_free(a, b) && left_in_order(a, b) && left_for(a, b, n);
*/

#endif
