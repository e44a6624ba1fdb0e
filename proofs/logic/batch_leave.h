/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH-7: what a prompt that leaves changes. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_LEAVE_H
#define CHUNKPROOF_LOGIC_BATCH_LEAVE_H

#include "proofs/logic/batch_keep.h"

/*@
  // The items of prompt p are in the lists, and none is there twice.
  predicate items_differ(struct cp_batch b, integer p) =
    (\forall integer i; 0 <= i < b.prompt[p].n_items ==>
      0 <= prompt_item(b, p, i) < CP_MAX_ITEMS) &&
    (\forall integer i, j; 0 <= i < j < b.prompt[p].n_items ==>
      prompt_item(b, p, i) != prompt_item(b, p, j));
  // A user more, or less, can be counted.
  predicate users_in_range(struct cp_batch b) =
    \forall integer i; 0 <= i < b.n_items ==> 0 < b.item[i].n_runs ==>
      0 <= b.item[i].n_users <= CP_MAX_SEQUENCES;

  // Chunks of prompt `from` are those of prompt `to`: the first n runs of it; the others stay.
  predicate owners_moved(struct cp_batch a, struct cp_batch b, integer from, integer to,
                         integer n) =
    (\forall integer x; 0 <= x < CP_MAX_CHUNKS ==> owner_same(a, b, x) ||
      (a.owner[x].owner == -1 - from && b.owner[x].owner == -1 - to &&
       b.owner[x].run == a.owner[x].run)) &&
    (\forall integer k; 0 <= k < n ==>
      b.owner[owner_chunk(a, -1 - from, k)].owner == -1 - to);

  predicate items_as_they_were(struct cp_batch a, struct cp_batch b) =
    b.chunk_size == a.chunk_size && b.n_items == a.n_items &&
    (\forall integer i, k; 0 <= i < CP_MAX_ITEMS ==> 0 <= k < CP_MAX_DEPTH ==>
      run_same(a, i, b, i, k));
  predicate all_left(struct cp_batch a, struct cp_batch b, integer p) =
    prompt_left(a, b, p) && items_as_they_were(a, b) &&
    owners_moved(a, b, a.n_prompts - 1, p,
                 p == a.n_prompts - 1 ? 0 : a.prompt[a.n_prompts - 1].n_own);
*/

/*@ ghost
  /@ requires prompts: 0 <= p < a.n_prompts <= CP_MAX_SEQUENCES;
     requires left: prompts_left(a, b, p);
     assigns \nothing;
     ensures less: \forall integer i;
       users(b, i, b.n_prompts) == users(a, i, a.n_prompts) - uses(a, p, i); @/
  void users_less(struct cp_batch a, struct cp_batch b, int p) {
    int last = a.n_prompts - 1;
    /@ loop invariant q: 0 <= q <= last;
       loop invariant before: q <= p ==> \forall integer i; users(b, i, q) == users(a, i, q);
       loop invariant behind: p < q ==> \forall integer i;
         users(b, i, q) == users(a, i, q) - uses(a, p, i) + uses(a, last, i);
       loop assigns q; loop variant last - q; @/
    for (int q = 0; q < last; q++) {
      users_next(a, q);
      users_next(b, q);
      /@ assert same: prompt_same(a, prompt_was(a, p, q), b, q); @/
      /@ assert has: \forall integer i;
           prompt_has_item(b, q, i) <==> prompt_has_item(a, prompt_was(a, p, q), i); @/
      /@ assert moved: q == p ==> \forall integer i; uses(b, q, i) == uses(a, last, i); @/
      /@ assert stays: q != p ==> \forall integer i; uses(b, q, i) == uses(a, q, i); @/
      /@ assert next_moved: q == p ==> \forall integer i; users(b, i, q + 1) ==
           users(a, i, q + 1) - uses(a, p, i) + uses(a, last, i); @/
      /@ assert next_behind: p < q ==> \forall integer i; users(b, i, q + 1) ==
           users(a, i, q + 1) - uses(a, p, i) + uses(a, last, i); @/
    }
    users_next(a, last);
    /@ assert all: \forall integer i; users(a, i, a.n_prompts) == users(a, i, last) +
         uses(a, last, i); @/
  }

  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts;
     assigns \nothing;
     ensures differ: items_differ(b, p);
     ensures range: users_in_range(b); @/
  void items_are_apart(struct cp_batch b, int p) {
    users_are_bound(b);
    /@ assert ok: prompt_ok(b, p); @/
    /@ assert there: \forall integer i; 0 <= i < b.prompt[p].n_items ==>
         item_there(b, prompt_item(b, p, i)); @/
    /@ assert some: \forall integer i; 0 <= i < b.prompt[p].n_items ==>
         run_in_range(b, prompt_item(b, p, i), 0); @/
    /@ assert avoid: \forall integer i, j; 0 <= i < j < b.prompt[p].n_items ==>
         run_avoids(b, prompt_item(b, p, i), 0, owner_position(b, prompt_item(b, p, j), 0),
                    owner_tokens(b, prompt_item(b, p, j), 0)); @/
    /@ assert tokens: \forall integer i; 0 <= i < b.prompt[p].n_items ==>
         1 <= owner_tokens(b, prompt_item(b, p, i), 0); @/
    /@ assert itself: \forall integer item; 1 <= owner_tokens(b, item, 0) ==>
         !run_avoids(b, item, 0, owner_position(b, item, 0), owner_tokens(b, item, 0)); @/
    /@ assert differ: \forall integer i, j; 0 <= i < j < b.prompt[p].n_items ==>
         prompt_item(b, p, i) != prompt_item(b, p, j); @/
  }

  /@ requires prompts: 0 <= p < CP_MAX_SEQUENCES && b.prompt[p] == a.prompt[p];
     requires differ: items_differ(a, p);
     assigns \nothing;
     ensures differ: items_differ(b, p); @/
  void items_differ_still(struct cp_batch a, struct cp_batch b, int p) {
    /@ assert items: \forall integer i; prompt_item(b, p, i) == prompt_item(a, p, i); @/
  }

  /@ requires prompts: 0 <= p < CP_MAX_SEQUENCES && m.prompt[p] == a.prompt[p];
     requires items: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> m.item[i] == a.item[i];
     requires changed: users_changed(m, b, p, more);
     assigns \nothing;
     ensures changed: users_changed(a, b, p, more); @/
  void users_changed_since(struct cp_batch a, struct cp_batch m, struct cp_batch b, int p,
                           int more) {
    /@ assert items: \forall integer i; prompt_item(m, p, i) == prompt_item(a, p, i); @/
    /@ assert have: \forall integer i; items_have(m, p, m.prompt[p].n_items, i) <==>
         items_have(a, p, a.prompt[p].n_items, i); @/
  }

  /@ requires prompts: 0 <= p <= last < CP_MAX_SEQUENCES && last == a.n_prompts - 1 == b.n_prompts;
     requires before: \forall integer q; 0 <= q <= last ==> m.prompt[q] == a.prompt[q];
     requires owners: \forall integer x; 0 <= x < CP_MAX_CHUNKS ==> m.owner[x] == a.owner[x];
     requires others: \forall integer q; 0 <= q < last ==> q != p ==> b.prompt[q] == m.prompt[q];
     requires moved: p < last ==> prompt_same(m, last, b, p) &&
       owners_moved(m, b, last, p, m.prompt[last].n_own);
     requires items: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> b.item[i] == m.item[i];
     requires users: users_changed(a, m, p, -1);
     requires none: p == last ==>
       \forall integer x; 0 <= x < CP_MAX_CHUNKS ==> b.owner[x] == m.owner[x];
     assigns \nothing;
     ensures left: prompts_left(a, b, p);
     ensures users: users_changed(a, b, p, -1);
     ensures owners: owners_moved(a, b, last, p, p == last ? 0 : a.prompt[last].n_own); @/
  void moved_is_left(struct cp_batch a, struct cp_batch m, struct cp_batch b, int p, int last) {
    /@ assert more: \forall integer i, more; 0 <= i < CP_MAX_ITEMS ==>
         item_has_more(a, m, i, more) ==> item_has_more(a, b, i, more); @/
    /@ assert last: m.prompt[last] == a.prompt[last]; @/
    /@ assert runs: \forall integer k; run_same(a, -1 - last, m, -1 - last, k); @/
    /@ assert same: p < last ==> prompt_same(a, last, b, p); @/
    /@ loop invariant q: 0 <= q <= last;
       loop invariant left: \forall integer r; 0 <= r < q ==>
         prompt_same(a, prompt_was(a, p, r), b, r);
       loop assigns q; loop variant last - q; @/
    for (int q = 0; q < last; q++) {
      /@ assert equal: q != p ==> b.prompt[q] == a.prompt[q]; @/
      /@ assert items: q != p ==> \forall integer i;
           prompt_item(b, q, i) == prompt_item(a, q, i); @/
      /@ assert own: q != p ==> runs_same(a, -1 - q, b, -1 - q); @/
      /@ assert stays: q != p ==> prompt_same(a, q, b, q); @/
    }
  }

  /@ requires ok: batch_ok(a) && 0 <= p < a.n_prompts;
     requires left: all_left(a, b, p);
     requires owner: owner_exists(b, o) && o != -a.n_prompts;
     requires was: was == (o == -1 - p ? -a.n_prompts : o) && runs_same(a, was, b, o);
     assigns \nothing;
     ensures owned: runs_owned(b, o); @/
  void owned_behind(struct cp_batch a, struct cp_batch b, int p, int was, int o) {
    /@ assert ok: owner_ok(a, was) && runs_owned(a, was); @/
    /@ assert other: was != -1 - p; @/
    int k = 0;
    /@ loop invariant k: 0 <= k <= owner_runs(a, was);
       loop invariant owned: \forall integer j; 0 <= j < k ==> run_owned(b, o, j);
       loop assigns k; loop variant owner_runs(a, was) - k; @/
    while (k < (was < 0 ? a.prompt[-1 - was].n_own : a.item[was].n_runs)) {
      /@ assert had: run_owned(a, was, k) && run_same(a, was, b, o, k); @/
      /@ assert used: pool_used(b.pool, owner_chunk(a, was, k)); @/
      /@ assert moved: o == -1 - p ==> b.owner[owner_chunk(a, was, k)].owner == o; @/
      /@ assert stays: o != -1 - p ==> owner_same(a, b, owner_chunk(a, was, k)); @/
      /@ assert run: b.owner[owner_chunk(a, was, k)].run == k; @/
      k++;
    }
  }

  /@ requires ok: batch_ok(a) && 0 <= p < a.n_prompts && 0 <= x < a.pool.capacity;
     requires left: all_left(a, b, p);
     requires prompts: \forall integer q; 0 <= q < b.n_prompts ==>
       runs_same(a, -1 - prompt_was(a, p, q), b, -1 - q);
     requires items: \forall integer i; 0 <= i < a.n_items ==> runs_same(a, i, b, i);
     assigns \nothing;
     ensures owned: pool_used(b.pool, x) ==> chunk_owned(b, x); @/
  void chunk_behind(struct cp_batch a, struct cp_batch b, int p, int x) {
    int o = a.owner[x].owner, k = a.owner[x].run;
    /@ assert had: pool_used(b.pool, x) ==> pool_used(a.pool, x) && chunk_owned(a, x); @/
    /@ assert other: pool_used(b.pool, x) ==> o != -1 - p; @/
    /@ assert item: pool_used(b.pool, x) ==> 0 <= o ==> owner_same(a, b, x) &&
         runs_same(a, o, b, o) && run_same(a, o, b, o, k); @/
    /@ assert place: pool_used(b.pool, x) ==> o == -a.n_prompts ==> p < a.n_prompts - 1 &&
         0 <= k < a.prompt[a.n_prompts - 1].n_own &&
         owner_chunk(a, -1 - (a.n_prompts - 1), k) == x; @/
    /@ assert moved: pool_used(b.pool, x) ==> o == -a.n_prompts ==> b.owner[x].owner == -1 - p; @/
    /@ assert was: prompt_was(a, p, p) == a.n_prompts - 1; @/
    /@ assert item_owned: pool_used(b.pool, x) ==> 0 <= o ==> chunk_owned(b, x); @/
    /@ assert number: o == -a.n_prompts ==> o == -1 - prompt_was(a, p, p); @/
    /@ assert last_runs: p < a.n_prompts - 1 ==>
         runs_same(a, -1 - prompt_was(a, p, p), b, -1 - p); @/
    /@ assert last_same: pool_used(b.pool, x) ==> o == -a.n_prompts ==>
         runs_same(a, o, b, -1 - p) && run_same(a, o, b, -1 - p, k); @/
    /@ assert last_run: b.owner[x].run == k; @/
    /@ assert last_owned: pool_used(b.pool, x) ==> o == -a.n_prompts ==> chunk_owned(b, x); @/
    /@ assert other_number: -a.n_prompts < o < 0 ==> o != -1 - p ==>
         o == -1 - prompt_was(a, p, -1 - o); @/
    /@ assert other_runs: -a.n_prompts < o < 0 ==> o != -1 - p ==>
         runs_same(a, -1 - prompt_was(a, p, -1 - o), b, o); @/
    /@ assert prompt: pool_used(b.pool, x) ==> -a.n_prompts < o < 0 ==> owner_same(a, b, x) &&
         runs_same(a, o, b, o) && run_same(a, o, b, o, k); @/
    /@ assert prompt_owned: pool_used(b.pool, x) ==> -a.n_prompts < o < 0 ==> chunk_owned(b, x); @/
  }

  /@ requires ok: batch_ok(a) && 0 <= p < a.n_prompts;
     requires left: all_left(a, b, p) && pool_ok(b.pool);
     assigns \nothing;
     ensures ok: batch_ok(b); @/
  void leave_is_ok(struct cp_batch a, struct cp_batch b, int p) {
    /@ assert more: \forall integer i; 0 <= i < a.n_items ==>
         item_has_more(a, b, i, -1) || item_has_more(a, b, i, 0); @/
    /@ assert named: \forall integer i; 0 <= i < a.n_items ==>
         b.item[i].n_runs == a.item[i].n_runs && b.item[i].name == a.item[i].name; @/
    /@ assert counts: \forall integer i; 0 <= i < a.n_items ==> owner_ok(a, i); @/
    /@ assert runs: \forall integer i, k; 0 <= i < a.n_items ==> 0 <= k < owner_runs(a, i) ==>
         run_same(a, i, b, i, k); @/
    /@ assert items: \forall integer i; 0 <= i < a.n_items ==> runs_same(a, i, b, i); @/
    /@ loop invariant o: -b.n_prompts <= o <= b.n_items;
       loop invariant owners: owners_to(b, o);
       loop invariant owned: owned_to(b, o);
       loop assigns o; loop variant b.n_items - o; @/
    for (int o = -b.n_prompts; o < b.n_items; o++) {
      int was = o < 0 && -1 - o == p ? -a.n_prompts : o;
      /@ assert prompt: o < 0 ==> prompt_same(a, prompt_was(a, p, -1 - o), b, -1 - o); @/
      /@ assert ok: owner_ok(a, was); @/
      /@ assert same: runs_same(a, was, b, o); @/
      owner_stays(a, was, b, o);
      owned_behind(a, b, p, was, o);
    }
    /@ assert names: names_to(b, b.n_items); @/
    /@ loop invariant q: 0 <= q <= b.n_prompts;
       loop invariant prompts: prompts_to(b, q);
       loop assigns q; loop variant b.n_prompts - q; @/
    for (int q = 0; q < b.n_prompts; q++) {
      int was = q == p ? a.n_prompts - 1 : q;
      /@ assert ok: prompt_ok(a, was) && owner_ok(a, -1 - was); @/
      /@ assert number: was == prompt_was(a, p, q); @/
      /@ assert same: prompt_same(a, was, b, q); @/
      /@ assert stay: items_stay(a, was, b); @/
      prompt_stays(a, was, b, q);
    }
    /@ loop invariant x: 0 <= x <= b.pool.capacity;
       loop invariant chunks: \forall integer y; 0 <= y < x ==> pool_used(b.pool, y) ==>
         chunk_owned(b, y);
       loop assigns x; loop variant b.pool.capacity - x; @/
    for (int x = 0; x < b.pool.capacity; x++) {
      chunk_behind(a, b, p, x);
    }
    users_less(a, b, p);
    /@ assert counted: counted_to(b, b.n_items); @/
  }
*/

#endif
