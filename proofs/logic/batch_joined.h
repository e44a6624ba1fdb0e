/* SPDX-License-Identifier: Apache-2.0 */
/* A batch with one prompt more is valid (BATCH-1 to BATCH-3, BATCH-5): steps of the proof of
 * ref/batch_join.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_JOINED_H
#define CHUNKPROOF_LOGIC_BATCH_JOINED_H

#include "proofs/logic/batch_begin.h"

/*@
  // There is one prompt more, without own runs. Its items have a user more. All else is the same.
  predicate items_counted(struct cp_batch a, struct cp_batch b, integer p) =
    \forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_has_more(a, b, i, uses(b, p, i));
  predicate one_more_prompt(struct cp_batch a, struct cp_batch b) =
    b.pool == a.pool && b.chunk_size == a.chunk_size && b.n_items == a.n_items &&
    b.n_prompts == a.n_prompts + 1 && owners_same(a, b) && runs_kept(a, b, CP_MAX_ITEMS) &&
    prompts_same(a, b) && b.prompt[a.n_prompts].n_own == 0 && items_counted(a, b, a.n_prompts);

  // BATCH-5, BATCH-6: it has these items, each of which has a user more. So many chunks are free,
  // for which others may have left.
  predicate names_raised{L}(struct cp_batch a, struct cp_batch b, unsigned long long *names,
                            integer n) =
    \forall integer i; 0 <= i < n ==> item_has_more(a, b, named(names, i), 1);
  predicate prompt_added{L}(struct cp_batch a, struct cp_batch b, integer id,
                            unsigned long long *names, integer n, integer chunks) =
    prompt_joined(a, b, id, names, n) && b.prompt[a.n_prompts].n_own == 0 &&
    names_raised(a, b, names, n) && others_beside(a, b, names, n) &&
    chunks <= b.pool.n_free && left_in_order(a, b) && left_in_need(a, b, chunks) &&
    items_runs(b, a.n_prompts, n) == named_runs(a, names, n);

  // All but the users of items, all but what room is made of, all but prompts is the same.
  predicate all_but_users(struct cp_batch a, struct cp_batch b) =
    b.pool == a.pool && sizes_same(a, b) && owners_same(a, b) && runs_kept(a, b, CP_MAX_ITEMS) &&
    prompts_kept(a, b, CP_MAX_ITEMS);
  predicate all_but_room(struct cp_batch a, struct cp_batch b) =
    sizes_same(a, b) && owners_same(a, b) && runs_kept(a, b, CP_MAX_ITEMS) &&
    prompts_kept(a, b, CP_MAX_ITEMS);
  predicate all_but_prompts(struct cp_batch a, struct cp_batch b) =
    b.pool == a.pool && b.chunk_size == a.chunk_size && b.n_items == a.n_items &&
    owners_same(a, b) && runs_kept(a, b, CP_MAX_ITEMS) &&
    (\forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(a, b, i));
*/

/*@ ghost
  /@ requires ok: batch_ok(a) && one_more_prompt(a, b) && owner_exists(a, o);
     assigns \nothing;
     ensures same: runs_same(a, o, b, o);
     ensures ok: owner_ok(b, o);
     ensures owned: runs_owned(b, o); @/
  void owner_beside(struct cp_batch a, struct cp_batch b, int o) {
    /@ assert ok: owner_ok(a, o) && runs_owned(a, o); @/
    if (o < 0) {
      /@ assert prompt: b.prompt[-1 - o] == a.prompt[-1 - o]; @/
      /@ assert same: runs_same(a, o, b, o); @/
    }
    else {
      /@ assert item: item_has_more(a, b, o, uses(b, a.n_prompts, o)); @/
      /@ assert runs: \forall integer k; 0 <= k < CP_MAX_DEPTH ==> run_same(a, o, b, o, k); @/
      /@ assert same: runs_same(a, o, b, o); @/
    }
    owner_stays(a, o, b, o);
    /@ assert had: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_owned(a, o, k) &&
         run_same(a, o, b, o, k) && owner_same(a, b, owner_chunk(a, o, k)); @/
    /@ assert owned: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_owned(b, o, k); @/
  }

  /@ requires ok: batch_ok(a) && one_more_prompt(a, b) && 0 <= p < a.n_prompts;
     requires same: \forall integer o; owner_exists(a, o) ==> runs_same(a, o, b, o);
     assigns \nothing;
     ensures ok: prompt_ok(b, p);
     ensures has: \forall integer i; prompt_has_item(a, p, i) <==> prompt_has_item(b, p, i); @/
  void prompt_beside(struct cp_batch a, struct cp_batch b, int p) {
    /@ assert ok: prompt_ok(a, p) && owner_ok(a, -1 - p); @/
    /@ assert equal: b.prompt[p] == a.prompt[p]; @/
    /@ assert items: \forall integer i; prompt_item(b, p, i) == prompt_item(a, p, i); @/
    /@ assert have: \forall integer i; prompt_has_item(a, p, i) <==> prompt_has_item(b, p, i); @/
    /@ assert own: runs_same(a, -1 - p, b, -1 - p); @/
    /@ assert same: prompt_same(a, p, b, p); @/
    /@ assert there: \forall integer i; 0 <= i < a.prompt[p].n_items ==>
         item_there(a, prompt_item(a, p, i)); @/
    /@ assert stay: items_stay(a, p, b); @/
    prompt_stays(a, p, b, p);
  }

  /@ requires prompts: 0 <= a.n_prompts && b.n_prompts == a.n_prompts + 1;
     requires same: \forall integer p, i; 0 <= p < a.n_prompts ==>
       (prompt_has_item(a, p, i) <==> prompt_has_item(b, p, i));
     assigns \nothing;
     ensures more: \forall integer i;
       users(b, i, b.n_prompts) == users(a, i, a.n_prompts) + uses(b, a.n_prompts, i); @/
  void users_more(struct cp_batch a, struct cp_batch b) {
    /@ loop invariant p: 0 <= p <= a.n_prompts;
       loop invariant same: \forall integer i; users(b, i, p) == users(a, i, p);
       loop assigns p; loop variant a.n_prompts - p; @/
    for (int p = 0; p < a.n_prompts; p++) {
      users_next(a, p);
      users_next(b, p);
      /@ assert has: \forall integer i; prompt_has_item(a, p, i) <==> prompt_has_item(b, p, i); @/
      /@ assert uses: \forall integer i; uses(a, p, i) == uses(b, p, i); @/
    }
    users_next(b, a.n_prompts);
  }

  /@ requires ok: batch_ok(a) && one_more_prompt(a, b);
     requires same: \forall integer o; owner_exists(a, o) ==> runs_same(a, o, b, o);
     assigns \nothing;
     ensures owned: chunks_owned(b); @/
  void chunks_beside(struct cp_batch a, struct cp_batch b) {
    /@ loop invariant x: 0 <= x <= b.pool.capacity;
       loop invariant owned: \forall integer y; 0 <= y < x ==> pool_used(b.pool, y) ==>
         chunk_owned(b, y);
       loop assigns x; loop variant b.pool.capacity - x; @/
    for (int x = 0; x < b.pool.capacity; x++) {
      int o = a.owner[x].owner, k = a.owner[x].run;
      /@ assert had: pool_used(b.pool, x) ==> chunk_owned(a, x) && owner_exists(a, o); @/
      /@ assert owner: owner_same(a, b, x); @/
      /@ assert run: pool_used(b.pool, x) ==> runs_same(a, o, b, o) && run_same(a, o, b, o, k); @/
      /@ assert is: pool_used(b.pool, x) ==> chunk_owned(b, x); @/
    }
  }

  /@ requires ok: pool_ok(a) && b == a;
     assigns \nothing;
     ensures ok: pool_ok(b); @/
  void pool_is_ok(struct cp_pool a, struct cp_pool b) {
    /@ assert list: \forall integer i; 0 <= i < CP_MAX_CHUNKS ==> b.perm[i] == a.perm[i] &&
         b.pos[i] == a.pos[i]; @/
    /@ assert sizes: b.capacity == a.capacity && b.n_free == a.n_free; @/
  }

  /@ requires ok: batch_ok(a) && one_more_prompt(a, b) && a.n_prompts < CP_MAX_SEQUENCES;
     requires new: prompt_ok(b, a.n_prompts);
     assigns \nothing;
     ensures ok: batch_ok(b); @/
  void joined_is_ok(struct cp_batch a, struct cp_batch b) {
    pool_is_ok(a.pool, b.pool);
    /@ loop invariant o: -a.n_prompts <= o <= a.n_items;
       loop invariant owners: \forall integer u; -a.n_prompts <= u < o ==> owner_ok(b, u);
       loop invariant owned: \forall integer u; -a.n_prompts <= u < o ==> runs_owned(b, u);
       loop invariant same: \forall integer u; -a.n_prompts <= u < o ==> runs_same(a, u, b, u);
       loop assigns o; loop variant a.n_items - o; @/
    for (int o = -a.n_prompts; o < a.n_items; o++) {
      owner_beside(a, b, o);
    }
    /@ assert new: owner_ok(b, -1 - a.n_prompts) && runs_owned(b, -1 - a.n_prompts); @/
    /@ assert owners: owners_to(b, b.n_items) && owned_to(b, b.n_items); @/
    /@ assert more: \forall integer i; 0 <= i < a.n_items ==> item_named(a, i) &&
         item_counted(a, i) && item_has_more(a, b, i, uses(b, a.n_prompts, i)); @/
    /@ assert names: names_to(b, b.n_items); @/
    /@ loop invariant p: 0 <= p <= a.n_prompts;
       loop invariant prompts: prompts_to(b, p);
       loop invariant has: \forall integer q, i; 0 <= q < p ==>
         (prompt_has_item(a, q, i) <==> prompt_has_item(b, q, i));
       loop assigns p; loop variant a.n_prompts - p; @/
    for (int p = 0; p < a.n_prompts; p++) {
      prompt_beside(a, b, p);
    }
    /@ assert prompts: prompts_to(b, b.n_prompts); @/
    chunks_beside(a, b);
    users_more(a, b);
    /@ assert counted: counted_to(b, b.n_items); @/
    /@ assert lists: batch_lists(b); @/
    /@ assert all: batch_chunks(b); @/
  }

  /@ requires users: \forall integer i; 0 <= i < a.n_items ==> 0 < a.item[i].n_runs ==>
       0 <= a.item[i].n_users;
     requires used: names_used(a, m, names, n, 1) && m.n_items == a.n_items <= CP_MAX_ITEMS;
     requires made: items_left(m, b) && left_in_order(m, b) && left_for(m, b, chunks);
     assigns \nothing;
     ensures order: left_in_order(a, b);
     ensures need: left_in_need(a, b, chunks); @/
  void left_beside(struct cp_batch a, struct cp_batch m, struct cp_batch b,
                   const unsigned long long *names, int n, int chunks) {
    /@ assert more: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         item_has_more(a, m, i, 1) || item_has_more(a, m, i, 0); @/
    /@ assert used: \forall integer i; 0 <= i < a.n_items ==> may_leave(m, i) ==>
         item_has_more(a, m, i, 0); @/
    /@ assert left: \forall integer i; 0 <= i < a.n_items ==>
         (item_left(a, b, i) <==> item_left(m, b, i)); @/
    /@ assert taken: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         m.item[i].taken == a.item[i].taken && m.item[i].n_runs == a.item[i].n_runs; @/
    /@ assert order: left_in_order(a, b); @/
    /@ assert last: \forall integer i; left_last(m, b, chunks, i) ==> left_last(a, b, chunks, i); @/
    /@ assert none: (\forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(m, b, i)) ==>
         \forall integer i; 0 <= i < a.n_items ==> !item_left(a, b, i); @/
  }

  /@ requires used: names_used(a, m, names, n, 1) && m.n_items == a.n_items <= CP_MAX_ITEMS;
     requires users: \forall integer i; 0 <= i < n ==> 0 <= a.item[named(names, i)].n_users;
     requires made: items_left(m, b);
     assigns \nothing;
     ensures raised: names_raised(a, b, names, n);
     ensures others: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> !names_have(names, n, i) ==>
       item_same(a, b, i) || (i < a.n_items && item_left(a, b, i)); @/
  void raised_beside(struct cp_batch a, struct cp_batch m, struct cp_batch b,
                     const unsigned long long *names, int n) {
    /@ assert have: \forall integer i; 0 <= i < n ==> names_have(names, n, named(names, i)); @/
    /@ assert more: \forall integer i; 0 <= i < n ==> item_has_more(a, m, named(names, i), 1); @/
    /@ assert stay: \forall integer i; 0 <= i < n ==> item_same(m, b, named(names, i)); @/
    /@ assert others: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> !names_have(names, n, i) ==>
         item_has_more(a, m, i, 0); @/
    /@ assert same: \forall integer i; item_has_more(a, m, i, 0) ==> item_same(m, b, i) ==>
         item_same(a, b, i); @/
    /@ assert left: \forall integer i; item_has_more(a, m, i, 0) ==> item_left(m, b, i) ==>
         item_left(a, b, i); @/
  }

  /@ requires ok: batch_ok(a) && names_used(a, b, names, n, 1);
     requires same: b.pool == a.pool && b.n_items == a.n_items && owners_same(a, b) &&
       runs_kept(a, b, CP_MAX_ITEMS);
     assigns \nothing;
     ensures owned: items_owned(b); @/
  void owned_with_more(struct cp_batch a, struct cp_batch b, const unsigned long long *names,
                       int n) {
    /@ assert more: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         item_has_more(a, b, i, 1) || item_has_more(a, b, i, 0); @/
    /@ loop invariant i: 0 <= i <= a.n_items;
       loop invariant owned: \forall integer j; 0 <= j < i ==> runs_owned(b, j);
       loop assigns i; loop variant a.n_items - i; @/
    for (int i = 0; i < a.n_items; i++) {
      /@ assert had: runs_owned(a, i) && owner_ok(a, i); @/
      /@ assert runs: b.item[i].n_runs == a.item[i].n_runs; @/
      /@ assert run: \forall integer k; 0 <= k < owner_runs(a, i) ==> run_owned(a, i, k) &&
           run_same(a, i, b, i, k) && owner_same(a, b, owner_chunk(a, i, k)); @/
      /@ assert owned: \forall integer k; 0 <= k < owner_runs(a, i) ==> run_owned(b, i, k); @/
    }
  }

  /@ requires more: names_used(a, m, names, n, 1) && names_used(m, b, names, n, -1);
     assigns \nothing;
     ensures same: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> b.item[i] == a.item[i]; @/
  void users_as_before(struct cp_batch a, struct cp_batch m, struct cp_batch b,
                       const unsigned long long *names, int n) {
    /@ assert same: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_has_more(a, b, i, 0); @/
  }

  /@ requires valid: 0 <= n && \valid_read(names + (0 .. n - 1));
     requires ok: batch_ok(a) && names_there(a, names, n) && names_raised(a, b, names, n);
     requires runs: b.n_items == a.n_items && runs_kept(a, b, CP_MAX_ITEMS);
     assigns \nothing;
     ensures chunks: names_in_chunks(b, names, n);
     ensures keep: names_keep_runs(a, b, names, n);
     ensures runs: named_runs(b, names, n) == named_runs(a, names, n); @/
  void raised_in_chunks(struct cp_batch a, struct cp_batch b, const unsigned long long *names,
                        int n) {
    /@ loop invariant i: 0 <= i <= n;
       loop invariant chunks: names_in_chunks(b, names, i);
       loop invariant keep: names_keep_runs(a, b, names, i);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      int item = (int)(names[i] % CP_MAX_ITEMS);
      /@ assert item: item == named(names, i) && item_has_name(a, item, names[i]); @/
      /@ assert ok: owner_ok(a, item); @/
      /@ assert more: item_has_more(a, b, item, 1); @/
      /@ assert same: runs_same(a, item, b, item); @/
      /@ assert tokens: \forall integer k; 0 <= k < owner_runs(a, item) ==>
           run_in_range(a, item, k) && run_same(a, item, b, item, k); @/
      /@ assert chunks: owner_in_chunks(b, item); @/
    }
    named_runs_stay(a, b, names, n);
  }

  /@ requires valid: 0 <= n && \valid_read(names + (0 .. n - 1));
     requires ok: batch_ok(a) && a.n_prompts < CP_MAX_SEQUENCES && names_there(a, names, n) &&
       names_apart(a, names, n);
     requires used: names_used(a, m, names, n, 1);
     requires same: m.pool == a.pool && m.chunk_size == a.chunk_size && m.n_items == a.n_items &&
       owners_same(a, m) && runs_kept(a, m, CP_MAX_ITEMS) && prompts_same(a, m);
     requires left: some_left(m, b) && names_raised(a, b, names, n);
     requires new: m.n_prompts == a.n_prompts + 1 && prompt_lists(b, a.n_prompts, names, n) &&
       prompt_summed(b, a.n_prompts) && b.prompt[a.n_prompts].n_own == 0;
     requires few: n <= named_runs(a, names, n) <= CP_MAX_DEPTH;
     assigns \nothing;
     ensures ok: batch_ok(m);
     ensures runs: items_runs(b, a.n_prompts, n) == named_runs(a, names, n); @/
  void added_is_joined(struct cp_batch a, struct cp_batch m, struct cp_batch b,
                       const unsigned long long *names, int n) {
    int p = a.n_prompts;
    /@ assert equal: m.prompt[p] == b.prompt[p]; @/
    /@ assert items: \forall integer i; prompt_item(m, p, i) == prompt_item(b, p, i); @/
    /@ assert raised: names_raised(a, m, names, n); @/
    raised_in_chunks(a, m, names, n);
    raised_in_chunks(a, b, names, n);
    listed_runs(a, b, p, names, n);
    /@ assert there: \forall integer i; 0 <= i < n ==> item_there(a, named(names, i)) &&
         prompt_item(b, p, i) == named(names, i); @/
    /@ assert chunks: \forall integer i; 0 <= i < n ==> owner_in_chunks(b, named(names, i)); @/
    /@ assert fit: items_fit(b, p); @/
    /@ assert there_too: \forall integer i; 0 <= i < n ==>
         runs_same(a, named(names, i), b, named(names, i)) &&
         runs_same(a, named(names, i), m, named(names, i)); @/
    /@ assert back: \forall integer i; 0 <= i < n ==>
         runs_same(b, named(names, i), m, named(names, i)); @/
    items_sum_stays(b, m, p);
    /@ assert sum: prompt_summed(m, p); @/
    listed_is_ok(a, m, p, names, n);
    listed_have(m, p, names, n);
    /@ assert counted: items_counted(a, m, p); @/
    joined_is_ok(a, m);
  }

  /@ requires sizes: m.pool.capacity <= CP_MAX_CHUNKS && m.n_items <= CP_MAX_ITEMS &&
       (\forall integer i; 0 <= i < m.n_items ==> m.item[i].n_runs <= CP_MAX_DEPTH);
     requires made: room_made(m, r, chunks) && all_but_room(m, r);
     requires same: all_but_prompts(m, j) && all_but_prompts(r, b);
     requires prompts: b.n_prompts == j.n_prompts && prompts_kept(j, b, CP_MAX_ITEMS);
     assigns \nothing;
     ensures left: some_left(j, b);
     ensures order: left_in_order(j, b);
     ensures need: left_for(j, b, chunks); @/
  void room_beside_prompt(struct cp_batch m, struct cp_batch r, struct cp_batch j,
                          struct cp_batch b, int chunks) {
    /@ assert sizes: r.pool.capacity == m.pool.capacity && j.pool.capacity == m.pool.capacity &&
         b.pool.capacity == m.pool.capacity && b.pool.n_free == r.pool.n_free &&
         j.pool.n_free == m.pool.n_free; @/
    /@ assert used: \forall integer x; (pool_used(j.pool, x) <==> pool_used(m.pool, x)) &&
         (pool_used(b.pool, x) <==> pool_used(r.pool, x)); @/
    /@ assert item: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         item_same(m, j, i) && item_same(r, b, i); @/
    /@ assert left: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         (item_left(m, r, i) <==> item_left(j, b, i)); @/
    /@ assert same: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         (item_same(m, r, i) <==> item_same(j, b, i)); @/
    /@ assert chunks: chunks_left(j, b); @/
    /@ assert owners: owners_keep(j, b); @/
    /@ assert items: items_left(j, b); @/
    /@ assert runs: \forall integer i, k; 0 <= i < CP_MAX_ITEMS ==> 0 <= k < CP_MAX_DEPTH ==>
         owner_chunk(b, i, k) == owner_chunk(r, i, k); @/
    /@ assert taken: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         j.item[i].taken == m.item[i].taken && j.item[i].n_runs == m.item[i].n_runs &&
         (may_leave(b, i) <==> may_leave(r, i)); @/
    /@ assert order: left_in_order(j, b); @/
    /@ assert free: left_free(j, b); @/
    /@ assert rest: rest_same(j, b); @/
    /@ assert last: \forall integer i; left_last(m, r, chunks, i) ==> left_last(j, b, chunks, i); @/
  }

  /@ requires used: names_used(a, m, names, n, 1);
     requires same: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(m, j, i);
     assigns \nothing;
     ensures used: names_used(a, j, names, n, 1); @/
  void used_still(struct cp_batch a, struct cp_batch m, struct cp_batch j,
                  const unsigned long long *names, int n) {
    /@ assert same: \forall integer i, more; item_has_more(a, m, i, more) ==>
         item_same(m, j, i) ==> item_has_more(a, j, i, more); @/
  }

  /@ requires this: 0 <= p < CP_MAX_SEQUENCES && j.prompt[p] == b.prompt[p];
     requires rest: \forall integer q; 0 <= q < CP_MAX_SEQUENCES ==> q != p ==>
       j.prompt[q] == r.prompt[q];
     requires kept: prompts_kept(r, b, -1 - p);
     assigns \nothing;
     ensures kept: prompts_kept(j, b, CP_MAX_ITEMS); @/
  void prompts_behind(struct cp_batch r, struct cp_batch j, struct cp_batch b, int p) {
    /@ assert other: \forall integer q; 0 <= q < CP_MAX_SEQUENCES ==> q != p ==>
         b.prompt[q] == r.prompt[q]; @/
    /@ assert same: \forall integer q; 0 <= q < CP_MAX_SEQUENCES ==> q != p ==>
         b.prompt[q] == j.prompt[q]; @/
  }

  /@ requires sizes: 0 <= a.n_prompts < CP_MAX_SEQUENCES;
     requires kept: prompts_kept(a, b, -1 - a.n_prompts) && prompts_kept(j, b, CP_MAX_ITEMS);
     assigns \nothing;
     ensures same: prompts_same(a, j); @/
  void prompts_before(struct cp_batch a, struct cp_batch j, struct cp_batch b) {
    /@ assert same: \forall integer p; 0 <= p < a.n_prompts ==> b.prompt[p] == a.prompt[p] &&
         b.prompt[p] == j.prompt[p]; @/
  }

  /@ requires valid: 0 <= n && \valid_read(names + (0 .. n - 1));
     requires ok: batch_ok(a) && a.n_prompts < CP_MAX_SEQUENCES && names_there(a, names, n) &&
       names_apart(a, names, n);
     requires few: n <= named_runs(a, names, n) <= CP_MAX_DEPTH;
     requires raised: all_but_users(a, m) && names_used(a, m, names, n, 1);
     requires made: room_made(m, r, chunks) && all_but_room(m, r);
     requires same: all_but_prompts(m, j) && all_but_prompts(r, b) && pool_ok(b.pool);
     requires prompts: j.n_prompts == a.n_prompts + 1 == b.n_prompts &&
       prompts_kept(j, b, CP_MAX_ITEMS) && prompts_kept(r, b, -1 - a.n_prompts);
     requires new: prompt_lists(b, a.n_prompts, names, n) && prompt_summed(b, a.n_prompts) &&
       b.prompt[a.n_prompts].n_own == 0;
     assigns \nothing;
     ensures ok: batch_ok(b);
     ensures kept: prompts_kept(a, b, -1 - a.n_prompts);
     ensures raised: names_raised(a, b, names, n);
     ensures others: others_beside(a, b, names, n);
     ensures order: left_in_order(a, b);
     ensures need: left_in_need(a, b, chunks);
     ensures runs: items_runs(b, a.n_prompts, n) == named_runs(a, names, n); @/
  void prompt_is_added(struct cp_batch a, struct cp_batch m, struct cp_batch r, struct cp_batch j,
                       struct cp_batch b, const unsigned long long *names, int n, int chunks) {
    named_users_are_bound(a, names, n);
    /@ assert more: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         item_has_more(a, m, i, 1) || item_has_more(a, m, i, 0); @/
    /@ assert ok: \forall integer i; 0 <= i < a.n_items ==> owner_ok(a, i); @/
    /@ assert sizes: m.pool.capacity <= CP_MAX_CHUNKS && m.n_items == a.n_items; @/
    room_beside_prompt(m, r, j, b, chunks);
    /@ assert item: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(m, j, i); @/
    used_still(a, m, j, names, n);
    raised_beside(a, j, b, names, n);
    left_beside(a, j, b, names, n, chunks);
    /@ assert runs: runs_kept(a, j, CP_MAX_ITEMS) && runs_kept(a, b, CP_MAX_ITEMS); @/
    /@ assert kept: prompts_kept(a, b, -1 - a.n_prompts); @/
    prompts_before(a, j, b);
    /@ assert owners: owners_same(a, j); @/
    /@ assert pool: j.pool == a.pool; @/
    added_is_joined(a, j, b, names, n);
    left_is_ok(j, b);
  }
*/

#endif
