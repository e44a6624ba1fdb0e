/* SPDX-License-Identifier: Apache-2.0 */
/* What stays valid when items leave, and when a prompt gets another number: steps of the proofs of
 * ref/batch.c and ref/batch_prompt.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_KEEP_H
#define CHUNKPROOF_LOGIC_BATCH_KEEP_H

#include "proofs/logic/batch_valid.h"

/*@
  // The first n items of prompt p stay; and all.
  predicate items_stay_to(struct cp_batch a, integer p, struct cp_batch b, integer n) =
    \forall integer i; 0 <= i < n ==>
      runs_same(a, prompt_item(a, p, i), b, prompt_item(a, p, i));
  predicate items_stay(struct cp_batch a, integer p, struct cp_batch b) =
    b.n_items >= a.n_items && items_stay_to(a, p, b, a.prompt[p].n_items);
  // All but the pool and the items is the same in both; so are the pool's size and what runs say.
  predicate rest_same(struct cp_batch a, struct cp_batch b) =
    b.pool.capacity == a.pool.capacity && b.chunk_size == a.chunk_size &&
    b.n_items == a.n_items && b.n_prompts == a.n_prompts &&
    (\forall integer x; 0 <= x < CP_MAX_CHUNKS ==> owner_same(a, b, x)) &&
    (\forall integer i, k; 0 <= i < CP_MAX_ITEMS ==> 0 <= k < CP_MAX_DEPTH ==>
      run_same(a, i, b, i, k)) &&
    (\forall integer p; 0 <= p < CP_MAX_SEQUENCES ==> b.prompt[p] == a.prompt[p]);
  predicate some_left(struct cp_batch a, struct cp_batch b) =
    rest_same(a, b) && chunks_left(a, b) && owners_keep(a, b) && items_left(a, b) &&
    left_free(a, b);
  // 1 when prompt p has the item, else 0.
  axiomatic Uses {
    logic integer uses(struct cp_batch b, integer p, integer item);
    axiom uses_yes: \forall struct cp_batch b, integer p, item; prompt_has_item(b, p, item) ==>
      uses(b, p, item) == 1;
    axiom uses_no: \forall struct cp_batch b, integer p, item; !prompt_has_item(b, p, item) ==>
      uses(b, p, item) == 0;
  }
  // Prompt p is one of those with the item, of which there is one or more.
  predicate users_bound(struct cp_batch b, integer n) =
    (\forall integer i; 0 <= users(b, i, n) <= n) &&
    (\forall integer i, p; 0 <= p < n ==> prompt_has_item(b, p, i) ==> 1 <= users(b, i, n));
*/

/*@ ghost
  /@ requires runs: owner_fits(o) && runs_same(a, o, b, u) && 0 <= owner_runs(a, o);
     assigns \nothing;
     ensures same: owner_sum(b, u, owner_runs(b, u)) == owner_sum(a, o, owner_runs(a, o)); @/
  void sum_stays(struct cp_batch a, int o, struct cp_batch b, int u) {
    int k = 0;
    /@ loop invariant k: 0 <= k <= owner_runs(a, o);
       loop invariant same: owner_sum(b, u, k) == owner_sum(a, o, k);
       loop assigns k; loop variant owner_runs(a, o) - k; @/
    while (k < (o < 0 ? a.prompt[-1 - o].n_own : a.item[o].n_runs)) {
      /@ assert run: run_same(a, o, b, u, k); @/
      k++;
    }
  }

  /@ requires runs: runs_same(a, o, b, u) && owner_ok(a, o);
     requires same: b.pool.capacity == a.pool.capacity && b.chunk_size == a.chunk_size;
     assigns \nothing;
     ensures ok: owner_ok(b, u); @/
  void owner_stays(struct cp_batch a, int o, struct cp_batch b, int u) {
    /@ assert range: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_in_range(b, u, k); @/
    /@ assert apart: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_is_apart(b, u, k); @/
  }

  /@ requires runs: runs_same(a, o, b, u);
     requires avoid: runs_avoid(a, o, owner_runs(a, o), from, many);
     assigns \nothing;
     ensures avoid: runs_avoid(b, u, owner_runs(b, u), from, many); @/
  void runs_avoid_still(struct cp_batch a, int o, struct cp_batch b, int u, int from, int many) {
  }

  /@ requires prompts: 0 <= p < CP_MAX_SEQUENCES && 0 <= q < CP_MAX_SEQUENCES;
     requires same: prompt_same(a, p, b, q) && items_stay_to(a, p, b, n);
     requires n: 0 <= n <= a.prompt[p].n_items <= CP_MAX_DEPTH;
     requires avoids: prompt_avoids(a, p, n, from, many);
     assigns \nothing;
     ensures avoids: prompt_avoids(b, q, n, from, many); @/
  void prompt_avoids_still(struct cp_batch a, int p, struct cp_batch b, int q, int n, int from,
                           int many) {
    /@ loop invariant j: 0 <= j <= n;
       loop invariant avoid: items_avoid(b, q, j, from, many);
       loop assigns j; loop variant n - j; @/
    for (int j = 0; j < n; j++) {
      /@ assert item: prompt_item(b, q, j) == prompt_item(a, p, j); @/
      /@ assert avoids: runs_avoid(a, prompt_item(a, p, j), owner_runs(a, prompt_item(a, p, j)),
           from, many); @/
      runs_avoid_still(a, a.prompt[p].item[j], b, b.prompt[q].item[j], from, many);
    }
    runs_avoid_still(a, -1 - p, b, -1 - q, from, many);
  }

  /@ requires prompts: 0 <= p < CP_MAX_SEQUENCES && 0 <= q < CP_MAX_SEQUENCES;
     requires same: prompt_same(a, p, b, q) && items_stay_to(a, p, b, n);
     requires n: 0 <= n <= a.prompt[p].n_items <= CP_MAX_DEPTH;
     requires item: 0 <= item < CP_MAX_ITEMS && runs_same(a, item, b, item) &&
       0 <= owner_runs(a, item) <= CP_MAX_DEPTH;
     requires avoids: prompt_avoids_owner(a, p, n, item);
     assigns \nothing;
     ensures avoids: prompt_avoids_owner(b, q, n, item); @/
  void item_avoided_still(struct cp_batch a, int p, struct cp_batch b, int q, int n, int item) {
    /@ loop invariant k: 0 <= k <= owner_runs(a, item);
       loop invariant avoids: \forall integer h; 0 <= h < k ==>
         prompt_avoids(b, q, n, owner_position(b, item, h), owner_tokens(b, item, h));
       loop assigns k; loop variant owner_runs(a, item) - k; @/
    for (int k = 0; k < a.item[item].n_runs; k++) {
      /@ assert same: run_same(a, item, b, item, k); @/
      prompt_avoids_still(a, p, b, q, n, a.runs[item].run[k].position,
                          a.runs[item].run[k].n_tokens);
    }
  }

  /@ requires sizes: batch_sizes(a) && owners_to(a, a.n_items);
     requires prompts: 0 <= p < CP_MAX_SEQUENCES && 0 <= q < CP_MAX_SEQUENCES;
     requires same: prompt_same(a, p, b, q) && items_stay(a, p, b);
     requires ok: prompt_ok(a, p) && owner_ok(a, -1 - p);
     assigns \nothing;
     ensures ok: prompt_ok(b, q); @/
  void prompt_stays(struct cp_batch a, int p, struct cp_batch b, int q) {
    sum_stays(a, -1 - p, b, -1 - q);
    /@ loop invariant i: 0 <= i <= a.prompt[p].n_items;
       loop invariant there: items_there(b, q, i);
       loop invariant apart: items_apart(b, q, i);
       loop invariant runs: items_runs(b, q, i) == items_runs(a, p, i);
       loop invariant sum: items_sum(b, q, i) == items_sum(a, p, i);
       loop assigns i; loop variant a.prompt[p].n_items - i; @/
    for (int i = 0; i < a.prompt[p].n_items; i++) {
      int item = a.prompt[p].item[i];
      /@ assert item: item == prompt_item(a, p, i) && item == prompt_item(b, q, i); @/
      /@ assert here: item_there(a, item); @/
      /@ assert same: runs_same(a, item, b, item); @/
      sum_stays(a, item, b, item);
      /@ assert avoided: prompt_avoids_owner(a, p, i, item); @/
      /@ assert before: items_stay_to(a, p, b, i); @/
      item_avoided_still(a, p, b, q, i, item);
      /@ assert next: prompt_avoids_owner(b, q, i, item); @/
    }
  }

  /@ requires n: 0 <= n;
     assigns \nothing;
     ensures next: \forall integer i; users(b, i, n + 1) == users(b, i, n) + uses(b, n, i);
     ensures some: \forall integer i; 0 <= uses(b, n, i) <= 1; @/
  void users_next(struct cp_batch b, int n) {
    /@ assert yes: \forall integer i; prompt_has_item(b, n, i) ==>
         users(b, i, n + 1) == users(b, i, n) + uses(b, n, i) && uses(b, n, i) == 1; @/
    /@ assert no: \forall integer i; !prompt_has_item(b, n, i) ==>
         users(b, i, n + 1) == users(b, i, n) + uses(b, n, i) && uses(b, n, i) == 0; @/
  }

  /@ requires sizes: batch_sizes(b);
     assigns \nothing;
     ensures bound: users_bound(b, b.n_prompts); @/
  void users_are_bound(struct cp_batch b) {
    /@ loop invariant p: 0 <= p <= b.n_prompts;
       loop invariant bound: users_bound(b, p);
       loop assigns p; loop variant b.n_prompts - p; @/
    for (int p = 0; p < b.n_prompts; p++) {
      users_next(b, p);
    }
  }

  /@ requires sizes: batch_sizes(a) && b.n_prompts == a.n_prompts;
     requires same: \forall integer p, i; 0 <= p < a.n_prompts ==>
       (prompt_has_item(a, p, i) <==> prompt_has_item(b, p, i));
     assigns \nothing;
     ensures same: \forall integer i; users(b, i, b.n_prompts) == users(a, i, a.n_prompts); @/
  void users_stay(struct cp_batch a, struct cp_batch b) {
    /@ loop invariant p: 0 <= p <= b.n_prompts;
       loop invariant same: \forall integer i; users(b, i, p) == users(a, i, p);
       loop assigns p; loop variant b.n_prompts - p; @/
    for (int p = 0; p < b.n_prompts; p++) {
      users_next(a, p);
      users_next(b, p);
      /@ assert has: \forall integer i; prompt_has_item(a, p, i) <==> prompt_has_item(b, p, i); @/
      /@ assert uses: \forall integer i; uses(a, p, i) == uses(b, p, i); @/
    }
  }

  /@ requires ok: batch_ok(a) && some_left(a, b) && owner_exists(a, o);
     requires stays: 0 <= o ==> item_same(a, b, o) && 0 < a.item[o].n_runs;
     assigns \nothing;
     ensures same: runs_same(a, o, b, o);
     ensures owned: runs_owned(b, o); @/
  void owned_still(struct cp_batch a, struct cp_batch b, int o) {
    /@ assert prompt: o < 0 ==> b.prompt[-1 - o] == a.prompt[-1 - o]; @/
    /@ assert ok: owner_ok(a, o) && runs_owned(a, o); @/
    /@ assert same: runs_same(a, o, b, o); @/
    int k = 0;
    /@ loop invariant k: 0 <= k <= owner_runs(a, o);
       loop invariant owned: \forall integer j; 0 <= j < k ==> run_owned(b, o, j);
       loop assigns k; loop variant owner_runs(a, o) - k; @/
    while (k < (o < 0 ? a.prompt[-1 - o].n_own : a.item[o].n_runs)) {
      /@ assert was: run_owned(a, o, k) && run_same(a, o, b, o, k); @/
      /@ assert keeps: owner_keeps(a, b, owner_chunk(a, o, k)); @/
      /@ assert owner: owner_same(a, b, owner_chunk(a, o, k)); @/
      /@ assert used: pool_used(b.pool, owner_chunk(a, o, k)); @/
      k++;
    }
  }

  /@ requires ok: batch_ok(a) && some_left(a, b) && 0 <= x < a.pool.capacity;
     assigns \nothing;
     ensures owned: pool_used(b.pool, x) ==> chunk_owned(b, x); @/
  void chunk_still(struct cp_batch a, struct cp_batch b, int x) {
    int o = a.owner[x].owner, k = a.owner[x].run;
    /@ assert was: pool_used(b.pool, x) ==> chunk_owned(a, x); @/
    /@ assert owner: owner_same(a, b, x); @/
    /@ assert free: 0 <= o < a.n_items ==> item_left(a, b, o) ==>
         runs_free(b, o, a.item[o].n_runs); @/
    /@ assert same: 0 <= o < a.n_items ==> item_same(a, b, o) || item_left(a, b, o); @/
    /@ assert run: 0 <= o < a.n_items ==> 0 <= k < a.item[o].n_runs ==> run_same(a, o, b, o, k); @/
    /@ assert here: pool_used(b.pool, x) ==> 0 <= o ==> item_same(a, b, o); @/
    /@ assert prompt: -a.n_prompts <= o < 0 ==> b.prompt[-1 - o] == a.prompt[-1 - o]; @/
  }

  /@ requires ok: batch_ok(a);
     requires left: some_left(a, b) && pool_ok(b.pool);
     assigns \nothing;
     ensures ok: batch_ok(b); @/
  void left_is_ok(struct cp_batch a, struct cp_batch b) {
    users_are_bound(a);
    /@ assert stay: \forall integer p, i; 0 <= p < a.n_prompts ==> 0 <= i < a.prompt[p].n_items ==>
         prompt_has_item(a, p, prompt_item(a, p, i)); @/
    /@ assert items: \forall integer p, i; 0 <= p < a.n_prompts ==>
         0 <= i < a.prompt[p].n_items ==> item_same(a, b, prompt_item(a, p, i)); @/
    /@ loop invariant o: -b.n_prompts <= o <= b.n_items;
       loop invariant owners: owners_to(b, o);
       loop invariant owned: owned_to(b, o);
       loop assigns o; loop variant b.n_items - o; @/
    for (int o = -b.n_prompts; o < b.n_items; o++) {
      /@ assert ok: owner_ok(a, o); @/
      if (o < 0 || b.item[o].n_runs > 0) {
        /@ assert stays: 0 <= o ==> item_same(a, b, o); @/
        owned_still(a, b, o);
        owner_stays(a, o, b, o);
      }
    }
    /@ assert names: names_to(b, b.n_items); @/
    /@ loop invariant p: 0 <= p <= b.n_prompts;
       loop invariant prompts: prompts_to(b, p);
       loop invariant has: \forall integer q, i; 0 <= q < p ==>
         (prompt_has_item(a, q, i) <==> prompt_has_item(b, q, i));
       loop assigns p; loop variant b.n_prompts - p; @/
    for (int p = 0; p < b.n_prompts; p++) {
      /@ assert ok: prompt_ok(a, p) && owner_ok(a, -1 - p); @/
      /@ assert equal: b.prompt[p] == a.prompt[p]; @/
      /@ assert items: \forall integer i; prompt_item(b, p, i) == prompt_item(a, p, i); @/
      /@ assert have: \forall integer i; prompt_has_item(a, p, i) <==> prompt_has_item(b, p, i); @/
      /@ assert own: runs_same(a, -1 - p, b, -1 - p); @/
      /@ assert same: prompt_same(a, p, b, p); @/
      /@ assert stay: items_stay(a, p, b); @/
      prompt_stays(a, p, b, p);
    }
    /@ loop invariant x: 0 <= x <= b.pool.capacity;
       loop invariant chunks: \forall integer y; 0 <= y < x ==> pool_used(b.pool, y) ==>
         chunk_owned(b, y);
       loop assigns x; loop variant b.pool.capacity - x; @/
    for (int x = 0; x < b.pool.capacity; x++) {
      chunk_still(a, b, x);
    }
    users_stay(a, b);
    /@ assert counted: counted_to(b, b.n_items); @/
  }
*/

#endif
