/* SPDX-License-Identifier: Apache-2.0 */
/* What stays valid when an owner gets a run: steps of the proofs of ref/batch_add.c, batch.c and
 * batch_join.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_ADD_H
#define CHUNKPROOF_LOGIC_BATCH_ADD_H

#include "proofs/logic/batch_grow.h"
#include "proofs/logic/batch_keep.h"

/*@
  // An item that is there in a is in b, too, and no other is; who is behind the last is not looked
  // at, nor when an item was taken.
  predicate item_alike(struct cp_batch a, struct cp_batch b, integer i) =
    b.item[i].n_runs == a.item[i].n_runs && (0 < a.item[i].n_runs ==>
      b.item[i].name == a.item[i].name && b.item[i].n_users == a.item[i].n_users);
  predicate items_alike(struct cp_batch a, struct cp_batch b) =
    a.n_items <= b.n_items <= CP_MAX_ITEMS &&
    (\forall integer i; 0 <= i < a.n_items ==> item_alike(a, b, i)) &&
    (\forall integer i; a.n_items <= i < b.n_items ==> b.item[i].n_runs == 0);
  predicate owners_same(struct cp_batch a, struct cp_batch b) =
    \forall integer x; 0 <= x < CP_MAX_CHUNKS ==> owner_same(a, b, x);
  predicate prompts_same(struct cp_batch a, struct cp_batch b) =
    \forall integer p; 0 <= p < a.n_prompts ==> b.prompt[p] == a.prompt[p];
  predicate batch_alike(struct cp_batch a, struct cp_batch b) =
    b.pool == a.pool && b.chunk_size == a.chunk_size && b.n_prompts == a.n_prompts &&
    owners_same(a, b) && items_alike(a, b) && runs_kept(a, b, CP_MAX_ITEMS) && prompts_same(a, b);
*/

/*@ ghost
  /@ requires ok: batch_ok(a) && batch_alike(a, b) && owner_exists(a, o);
     assigns \nothing;
     ensures same: runs_same(a, o, b, o);
     ensures ok: owner_ok(b, o);
     ensures owned: runs_owned(b, o); @/
  void owner_alike(struct cp_batch a, struct cp_batch b, int o) {
    /@ assert ok: owner_ok(a, o) && runs_owned(a, o); @/
    if (o < 0) {
      /@ assert prompt: b.prompt[-1 - o] == a.prompt[-1 - o]; @/
      /@ assert same: runs_same(a, o, b, o); @/
    }
    else {
      /@ assert item: item_alike(a, b, o); @/
      /@ assert runs: \forall integer k; 0 <= k < CP_MAX_DEPTH ==> run_same(a, o, b, o, k); @/
      /@ assert same: runs_same(a, o, b, o); @/
    }
    owner_stays(a, o, b, o);
    /@ assert had: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_owned(a, o, k) &&
         run_same(a, o, b, o, k) && owner_same(a, b, owner_chunk(a, o, k)); @/
    /@ assert owned: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_owned(b, o, k); @/
  }

  /@ requires ok: batch_ok(a) && batch_alike(a, b);
     assigns \nothing;
     ensures ok: batch_ok(b); @/
  void alike_is_ok(struct cp_batch a, struct cp_batch b) {
    /@ loop invariant o: -a.n_prompts <= o <= a.n_items;
       loop invariant owners: \forall integer u; -a.n_prompts <= u < o ==> owner_ok(b, u);
       loop invariant owned: \forall integer u; -a.n_prompts <= u < o ==> runs_owned(b, u);
       loop invariant same: \forall integer u; -a.n_prompts <= u < o ==> runs_same(a, u, b, u);
       loop assigns o; loop variant a.n_items - o; @/
    for (int o = -a.n_prompts; o < a.n_items; o++) {
      owner_alike(a, b, o);
    }
    /@ assert none: \forall integer u; a.n_items <= u < b.n_items ==> owner_ok(b, u) &&
         runs_owned(b, u); @/
    /@ assert owners: owners_to(b, b.n_items) && owned_to(b, b.n_items); @/
    /@ assert named: \forall integer i; 0 <= i < a.n_items ==> item_named(a, i) &&
         item_alike(a, b, i); @/
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
      /@ assert there: \forall integer i; 0 <= i < a.prompt[p].n_items ==>
           item_there(a, prompt_item(a, p, i)); @/
      /@ assert stay: items_stay(a, p, b); @/
      prompt_stays(a, p, b, p);
    }
    /@ assert chunk: \forall integer x; pool_used(b.pool, x) ==> chunk_owned(a, x) &&
         owner_same(a, b, x) && owner_exists(a, a.owner[x].owner); @/
    /@ assert run: \forall integer v, k; owner_exists(a, v) ==> 0 <= k < owner_runs(a, v) ==>
         k < owner_runs(b, v) && run_same(a, v, b, v, k); @/
    /@ assert chunks: \forall integer x; pool_used(b.pool, x) ==> chunk_owned(b, x); @/
    users_stay(a, b);
    /@ assert counted: counted_to(b, b.n_items); @/
  }

  /@ requires prompts: 0 <= b.n_prompts;
     requires none: no_prompt_has(b, item);
     assigns \nothing;
     ensures none: users(b, item, b.n_prompts) == 0; @/
  void no_users(struct cp_batch b, int item) {
    /@ loop invariant p: 0 <= p <= b.n_prompts;
       loop invariant none: users(b, item, p) == 0;
       loop assigns p; loop variant b.n_prompts - p; @/
    for (int p = 0; p < b.n_prompts; p++) {
      /@ assert none: !prompt_has_item(b, p, item); @/
    }
  }

  /@ requires owned: runs_owned(a, o);
     requires same: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_same(a, o, b, o, k);
     requires kept: \forall integer x; pool_used(a.pool, x) ==>
       pool_used(b.pool, x) && owner_same(a, b, x);
     assigns \nothing;
     ensures owned: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_owned(b, o, k); @/
  void owned_on(struct cp_batch a, struct cp_batch b, int o) {
    /@ assert had: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_owned(a, o, k); @/
  }

  /@ requires ok: owner_ok(a, o) && runs_grew(a, b, o);
     requires sizes: b.pool.capacity == a.pool.capacity && b.chunk_size == a.chunk_size;
     requires last: owner_runs(b, o) == owner_runs(a, o) + 1 <= CP_MAX_DEPTH &&
       run_in_range(b, o, owner_runs(a, o)) && owner_position(b, o, owner_runs(a, o)) == from &&
       owner_tokens(b, o, owner_runs(a, o)) == many;
     requires avoids: runs_avoid(a, o, owner_runs(a, o), from, many);
     assigns \nothing;
     ensures ok: owner_ok(b, o); @/
  void one_run_more(struct cp_batch a, struct cp_batch b, int o, int from, int many) {
    /@ assert same: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_same(a, o, b, o, k); @/
    /@ assert range: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_in_range(a, o, k); @/
    /@ assert range_still: \forall integer k; 0 <= k < owner_runs(a, o) ==>
         run_in_range(b, o, k); @/
    /@ assert in_range: \forall integer k; 0 <= k < owner_runs(b, o) ==>
         k < owner_runs(a, o) || k == owner_runs(a, o); @/
    /@ assert apart: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_is_apart(a, o, k); @/
    /@ assert avoids: \forall integer k, h; 0 <= h < k < owner_runs(a, o) ==>
         run_avoids(b, o, h, owner_position(b, o, k), owner_tokens(b, o, k)); @/
    /@ assert apart_still: \forall integer k; 0 <= k < owner_runs(a, o) ==>
         run_is_apart(b, o, k); @/
    /@ assert last: run_is_apart(b, o, owner_runs(a, o)); @/
  }

  /@ requires ok: batch_ok(a) && owner_exists(a, o) && owner_has_room(a, o, from, many);
     requires added: run_added(a, b, o, from, many) && pool_ok(b.pool);
     requires u: owner_exists(a, u);
     assigns \nothing;
     ensures same: u != o ==> runs_same(a, u, b, u);
     ensures ok: owner_ok(b, u);
     ensures owned: runs_owned(b, u); @/
  void owner_grows(struct cp_batch a, struct cp_batch b, int o, int from, int many, int u) {
    /@ assert ok: owner_ok(a, u) && runs_owned(a, u); @/
    /@ assert prompt: u < 0 ==> u != o ==> b.prompt[-1 - u] == a.prompt[-1 - u]; @/
    /@ assert item: 0 <= u ==> item_kept(a, b, o, u); @/
    /@ assert same_prompt: u < 0 ==> u != o ==> runs_same(a, u, b, u); @/
    /@ assert same_item: 0 <= u ==> u != o ==> runs_same(a, u, b, u); @/
    /@ assert keeps: \forall integer k; 0 <= k < owner_runs(a, u) ==> run_same(a, u, b, u, k); @/
    /@ assert kept: \forall integer x; pool_used(a.pool, x) ==>
         pool_used(b.pool, x) && owner_same(a, b, x); @/
    owned_on(a, b, u);
    if (u != o) {
      /@ assert same: runs_same(a, u, b, u); @/
      owner_stays(a, u, b, u);
    }
    else {
      /@ assert last: run_in_range(b, o, owner_runs(a, o)); @/
      one_run_more(a, b, o, from, many);
      /@ assert owned: run_owned(b, o, owner_runs(a, o)); @/
    }
  }

  /@ requires prompt: 0 <= p < CP_MAX_SEQUENCES && 0 <= n <= a.prompt[p].n_items <= CP_MAX_DEPTH;
     requires same: \forall integer i; 0 <= i < n ==> prompt_item(b, p, i) == prompt_item(a, p, i);
     requires stay: items_stay_to(a, p, b, n);
     requires avoid: items_avoid(a, p, n, from, many);
     assigns \nothing;
     ensures avoid: items_avoid(b, p, n, from, many); @/
  void items_avoid_still(struct cp_batch a, int p, struct cp_batch b, int n, int from, int many) {
    /@ loop invariant j: 0 <= j <= n;
       loop invariant avoid: items_avoid(b, p, j, from, many);
       loop assigns j; loop variant n - j; @/
    for (int j = 0; j < n; j++) {
      /@ assert item: prompt_item(b, p, j) == prompt_item(a, p, j); @/
      /@ assert avoids: runs_avoid(a, prompt_item(a, p, j), owner_runs(a, prompt_item(a, p, j)),
           from, many); @/
      runs_avoid_still(a, a.prompt[p].item[j], b, b.prompt[p].item[j], from, many);
    }
  }

  /@ requires avoid: runs_avoid(b, o, n, from, many) && run_avoids(b, o, n, from, many);
     assigns \nothing;
     ensures avoid: runs_avoid(b, o, n + 1, from, many); @/
  void one_avoided_more(struct cp_batch b, int o, int n, int from, int many) {
  }

  /@ requires prompt: 0 <= p < CP_MAX_SEQUENCES && 0 <= n < a.prompt[p].n_items <= CP_MAX_DEPTH;
     requires own: 0 <= a.prompt[p].n_own;
     requires added: run_added(a, b, -1 - p, from, many);
     requires stay: items_stay(a, p, b);
     requires item: item == prompt_item(a, p, n) && 0 <= item < CP_MAX_ITEMS &&
       0 <= owner_runs(a, item) <= CP_MAX_DEPTH;
     requires room: runs_avoid(a, item, owner_runs(a, item), from, many);
     requires avoids: prompt_avoids_owner(a, p, n, item);
     assigns \nothing;
     ensures avoids: prompt_avoids_owner(b, p, n, item); @/
  void item_avoids_more(struct cp_batch a, struct cp_batch b, int p, int n, int item, int from,
                        int many) {
    /@ assert same: runs_same(a, item, b, item); @/
    /@ loop invariant k: 0 <= k <= owner_runs(a, item);
       loop invariant avoids: \forall integer h; 0 <= h < k ==>
         prompt_avoids(b, p, n, owner_position(b, item, h), owner_tokens(b, item, h));
       loop assigns k; loop variant owner_runs(a, item) - k; @/
    for (int k = 0; k < a.item[item].n_runs; k++) {
      /@ assert run: run_same(a, item, b, item, k); @/
      /@ assert avoided: prompt_avoids(a, p, n, owner_position(a, item, k),
           owner_tokens(a, item, k)); @/
      items_avoid_still(a, p, b, n, a.runs[item].run[k].position, a.runs[item].run[k].n_tokens);
      /@ assert beside: run_avoids(a, item, k, from, many); @/
      /@ assert new: run_avoids(b, -1 - p, a.prompt[p].n_own, owner_position(b, item, k),
           owner_tokens(b, item, k)); @/
      /@ assert had: \forall integer h; 0 <= h < a.prompt[p].n_own ==>
           run_avoids(a, -1 - p, h, owner_position(a, item, k), owner_tokens(a, item, k)) &&
           run_same(a, -1 - p, b, -1 - p, h); @/
      /@ assert still: runs_avoid(b, -1 - p, a.prompt[p].n_own, owner_position(b, item, k),
           owner_tokens(b, item, k)); @/
      one_avoided_more(b, -1 - p, a.prompt[p].n_own, b.runs[item].run[k].position,
                       b.runs[item].run[k].n_tokens);
      /@ assert own: runs_avoid(b, -1 - p, b.prompt[p].n_own, owner_position(b, item, k),
           owner_tokens(b, item, k)); @/
    }
  }

  /@ requires ok: batch_ok(a) && 0 <= p < a.n_prompts && owner_has_room(a, -1 - p, from, many);
     requires added: run_added(a, b, -1 - p, from, many);
     requires stay: items_stay(a, p, b);
     assigns \nothing;
     ensures ok: prompt_ok(b, p); @/
  void prompt_grows(struct cp_batch a, struct cp_batch b, int p, int from, int many) {
    /@ assert ok: prompt_ok(a, p) && owner_ok(a, -1 - p); @/
    /@ loop invariant k: 0 <= k <= a.prompt[p].n_own;
       loop invariant sum: owner_sum(b, -1 - p, k) == owner_sum(a, -1 - p, k);
       loop assigns k; loop variant a.prompt[p].n_own - k; @/
    for (int k = 0; k < a.prompt[p].n_own; k++) {
      /@ assert run: run_same(a, -1 - p, b, -1 - p, k); @/
    }
    /@ assert more: owner_sum(b, -1 - p, b.prompt[p].n_own) ==
         owner_sum(a, -1 - p, a.prompt[p].n_own) + many; @/
    /@ loop invariant i: 0 <= i <= a.prompt[p].n_items;
       loop invariant there: items_there(b, p, i);
       loop invariant apart: items_apart(b, p, i);
       loop invariant runs: items_runs(b, p, i) == items_runs(a, p, i);
       loop invariant sum: items_sum(b, p, i) == items_sum(a, p, i);
       loop assigns i; loop variant a.prompt[p].n_items - i; @/
    for (int i = 0; i < a.prompt[p].n_items; i++) {
      int item = a.prompt[p].item[i];
      /@ assert item: item == prompt_item(a, p, i) && item == prompt_item(b, p, i); @/
      /@ assert here: item_there(a, item) && owner_ok(a, item); @/
      /@ assert same: runs_same(a, item, b, item); @/
      sum_stays(a, item, b, item);
      /@ assert avoided: prompt_avoids_owner(a, p, i, item); @/
      /@ assert room: runs_avoid(a, item, owner_runs(a, item), from, many); @/
      item_avoids_more(a, b, p, i, item, from, many);
      /@ assert next: prompt_avoids_owner(b, p, i, prompt_item(b, p, i)); @/
    }
  }

  /@ requires prompt: 0 <= p < CP_MAX_SEQUENCES && owner_grew(a, b, o);
     assigns \nothing;
     ensures items: \forall integer i; prompt_item(b, p, i) == prompt_item(a, p, i);
     ensures n_items: b.prompt[p].n_items == a.prompt[p].n_items;
     ensures has: \forall integer i; prompt_has_item(a, p, i) <==> prompt_has_item(b, p, i); @/
  void prompt_keeps_items(struct cp_batch a, struct cp_batch b, int o, int p) {
    if (-1 - p == o) {
      /@ assert kept: prompt_kept(a, b, p); @/
    }
    else {
      /@ assert equal: b.prompt[p] == a.prompt[p]; @/
    }
  }

  /@ requires ok: batch_ok(a) && owner_exists(a, o) && owner_has_room(a, o, from, many);
     requires added: run_added(a, b, o, from, many) && pool_ok(b.pool);
     requires same: \forall integer v; owner_exists(a, v) ==> v != o ==> runs_same(a, v, b, v);
     requires prompt: 0 <= p < a.n_prompts;
     assigns \nothing;
     ensures ok: prompt_ok(b, p); @/
  void prompt_is_still(struct cp_batch a, struct cp_batch b, int o, int from, int many, int p) {
    /@ assert ok: prompt_ok(a, p) && owner_ok(a, -1 - p); @/
    prompt_keeps_items(a, b, o, p);
    /@ assert there: \forall integer i; 0 <= i < a.prompt[p].n_items ==>
         item_there(a, prompt_item(a, p, i)); @/
    /@ assert has: \forall integer i; 0 <= i < a.prompt[p].n_items ==>
         prompt_has_item(a, p, prompt_item(a, p, i)); @/
    /@ assert other: \forall integer i; 0 <= i < a.prompt[p].n_items ==>
         prompt_item(a, p, i) != o; @/
    /@ assert stay: items_stay(a, p, b); @/
    if (-1 - p == o) {
      prompt_grows(a, b, p, from, many);
    }
    else {
      /@ assert equal: b.prompt[p] == a.prompt[p]; @/
      /@ assert own: runs_same(a, -1 - p, b, -1 - p); @/
      /@ assert same: prompt_same(a, p, b, p); @/
      prompt_stays(a, p, b, p);
    }
  }

  /@ requires sizes: b.n_prompts == a.n_prompts && a.n_items <= b.n_items;
     requires owned: chunks_owned(a);
     requires others: \forall integer v; owner_exists(a, v) ==> v != o ==> runs_same(a, v, b, v);
     requires own: runs_grew(a, b, o);
     requires had: \forall integer x; pool_used(b.pool, x) ==> x != new ==>
       pool_used(a.pool, x) && owner_same(a, b, x);
     requires given: pool_used(b.pool, new) ==> chunk_owned(b, new);
     assigns \nothing;
     ensures owned: chunks_owned(b); @/
  void chunks_stay(struct cp_batch a, struct cp_batch b, int o, int new) {
    /@ assert was: \forall integer x; pool_used(b.pool, x) ==> x != new ==> chunk_owned(a, x); @/
    /@ assert runs: \forall integer v, k; owner_exists(a, v) ==> 0 <= k < owner_runs(a, v) ==>
         k < owner_runs(b, v) && run_same(a, v, b, v, k); @/
    /@ assert is: \forall integer x; pool_used(b.pool, x) ==> x != new ==> chunk_owned(b, x); @/
  }

  /@ requires items: b.n_items == a.n_items <= CP_MAX_ITEMS && items_kept(a, b, o);
     requires named: names_to(a, a.n_items) && (0 <= o ==> a.item[o].name % CP_MAX_ITEMS == o);
     assigns \nothing;
     ensures named: names_to(b, b.n_items); @/
  void names_stay(struct cp_batch a, struct cp_batch b, int o) {
    /@ assert kept: \forall integer i; 0 <= i < a.n_items ==> item_kept(a, b, o, i); @/
    /@ assert same: \forall integer i; 0 <= i < a.n_items ==> item_named(a, i); @/
  }

  /@ requires items: b.n_items == a.n_items <= CP_MAX_ITEMS && items_kept(a, b, o);
     requires users: \forall integer i; users(b, i, b.n_prompts) == users(a, i, a.n_prompts);
     requires counted: counted_to(a, a.n_items);
     requires none: 0 <= o ==> a.item[o].n_users == 0 && users(a, o, a.n_prompts) == 0;
     assigns \nothing;
     ensures counted: counted_to(b, b.n_items); @/
  void counts_stay(struct cp_batch a, struct cp_batch b, int o) {
    /@ assert kept: \forall integer i; 0 <= i < a.n_items ==> item_kept(a, b, o, i); @/
    /@ assert same: \forall integer i; 0 <= i < a.n_items ==> item_counted(a, i); @/
  }

  /@ requires ok: batch_ok(a) && owner_exists(a, o) && owner_has_room(a, o, from, many);
     requires added: run_added(a, b, o, from, many) && pool_ok(b.pool);
     assigns \nothing;
     ensures ok: batch_ok(b); @/
  void added_is_ok(struct cp_batch a, struct cp_batch b, int o, int from, int many) {
    /@ loop invariant u: -b.n_prompts <= u <= b.n_items;
       loop invariant owners: owners_to(b, u);
       loop invariant owned: owned_to(b, u);
       loop invariant same: \forall integer v; -b.n_prompts <= v < u ==> v != o ==>
         runs_same(a, v, b, v);
       loop assigns u; loop variant b.n_items - u; @/
    for (int u = -b.n_prompts; u < b.n_items; u++) {
      owner_grows(a, b, o, from, many, u);
    }
    names_stay(a, b, o);
    /@ loop invariant p: 0 <= p <= b.n_prompts;
       loop invariant prompts: prompts_to(b, p);
       loop invariant has: \forall integer q, i; 0 <= q < p ==>
         (prompt_has_item(a, q, i) <==> prompt_has_item(b, q, i));
       loop assigns p; loop variant b.n_prompts - p; @/
    for (int p = 0; p < b.n_prompts; p++) {
      prompt_keeps_items(a, b, o, p);
      prompt_is_still(a, b, o, from, many, p);
    }
    /@ assert new: chunk_owned(b, owner_chunk(b, o, owner_runs(a, o))); @/
    /@ assert other: \forall integer v; owner_exists(a, v) ==> v != o ==> runs_same(a, v, b, v); @/
    /@ assert own: runs_grew(a, b, o); @/
    chunks_stay(a, b, o, o < 0 ? b.prompt[-1 - o].own[a.prompt[-1 - o].n_own].chunk
                               : b.runs[o].run[a.item[o].n_runs].chunk);
    users_stay(a, b);
    if (0 <= o) {
      no_users(a, o);
    }
    counts_stay(a, b, o);
  }

  /@ requires owner: owner_fits(o) && 0 <= owner_runs(b, o) <= CP_MAX_DEPTH;
     requires runs: runs_in_chunks(b, o, owner_runs(b, o));
     assigns \nothing;
     ensures bound:
       0 <= owner_sum(b, o, owner_runs(b, o)) <= owner_runs(b, o) * CP_MAX_CHUNK_SIZE; @/
  void sum_is_bound(struct cp_batch b, int o) {
    int k = 0;
    /@ loop invariant k: 0 <= k <= owner_runs(b, o);
       loop invariant bound: 0 <= owner_sum(b, o, k) <= k * CP_MAX_CHUNK_SIZE;
       loop assigns k; loop variant owner_runs(b, o) - k; @/
    while (k < (o < 0 ? b.prompt[-1 - o].n_own : b.item[o].n_runs)) {
      /@ assert tokens: 0 <= owner_tokens(b, o, k) <= CP_MAX_CHUNK_SIZE; @/
      k++;
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts;
     assigns \nothing;
     ensures bound: 0 <= b.prompt[p].n_tokens <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE; @/
  void tokens_are_bound(struct cp_batch b, int p) {
    /@ assert ok: prompt_ok(b, p) && owner_ok(b, -1 - p); @/
    sum_is_bound(b, -1 - p);
    /@ loop invariant i: 0 <= i <= b.prompt[p].n_items;
       loop invariant bound: 0 <= items_sum(b, p, i) <= items_runs(b, p, i) * CP_MAX_CHUNK_SIZE;
       loop assigns i; loop variant b.prompt[p].n_items - i; @/
    for (int i = 0; i < b.prompt[p].n_items; i++) {
      int item = b.prompt[p].item[i];
      /@ assert item: item == prompt_item(b, p, i) && item_there(b, item); @/
      /@ assert ok: owner_ok(b, item); @/
      sum_is_bound(b, item);
    }
  }

  /@ requires n: 1 <= n && 1 <= c;
     assigns \nothing;
     ensures less: cuts(n, c) == cuts(n - \min(n, c), c) + 1;
     ensures some: 0 <= cuts(n - \min(n, c), c); @/
  void one_cut_less(int n, int c) {
    /@ assert last: n <= c ==> (n - 1) / c == 0; @/
    /@ assert less: c < n ==> (n - 1 - c) / c == (n - 1) / c - 1; @/
  }

  /@ requires owner: owner_fits(o);
     requires grew: owner_grew(a, m, o) && owner_grew(m, b, o);
     assigns \nothing;
     ensures grew: owner_grew(a, b, o); @/
  void grew_on(struct cp_batch a, struct cp_batch m, struct cp_batch b, int o) {
    /@ assert runs: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_same(a, o, b, o, k); @/
    /@ assert items: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_kept(a, b, o, i); @/
    /@ assert others: \forall integer i, k; 0 <= i < CP_MAX_ITEMS ==> 0 <= k < CP_MAX_DEPTH ==>
         i != o ==> run_same(a, i, b, i, k); @/
    /@ assert prompts: \forall integer p; 0 <= p < CP_MAX_SEQUENCES ==> p != -1 - o ==>
         b.prompt[p] == a.prompt[p]; @/
  }

  /@ requires ok: batch_ok(a) && owner_exists(a, o) && owner_grew(a, b, o);
     requires item: 0 <= o ==> a.item[o].n_users == 0 && no_prompt_has(a, o);
     assigns \nothing;
     ensures takes: \forall integer n; owner_takes(a, o, n) ==>
       owner_takes(b, o, n - (owner_runs(b, o) - owner_runs(a, o))); @/
  void takes_on(struct cp_batch a, struct cp_batch b, int o) {
    if (o < 0) {
      int p = -1 - o;
      /@ assert ok: prompt_ok(a, p); @/
      /@ loop invariant i: 0 <= i <= a.prompt[p].n_items;
         loop invariant same: items_runs(b, p, i) == items_runs(a, p, i);
         loop assigns i; loop variant a.prompt[p].n_items - i; @/
      for (int i = 0; i < a.prompt[p].n_items; i++) {
        /@ assert item: prompt_item(b, p, i) == prompt_item(a, p, i) &&
             item_there(a, prompt_item(a, p, i)); @/
        /@ assert kept: item_kept(a, b, o, prompt_item(a, p, i)); @/
      }
    }
    else {
      /@ assert equal: \forall integer p; 0 <= p < a.n_prompts ==> b.prompt[p] == a.prompt[p]; @/
      /@ assert items: \forall integer p, i; 0 <= p < a.n_prompts ==>
           prompt_item(b, p, i) == prompt_item(a, p, i); @/
      /@ assert kept: item_kept(a, b, o, o); @/
    }
  }

  /@ requires ok: batch_ok(a) && owner_exists(a, o) && owner_grew(a, b, o);
     requires avoids: owner_avoids(a, o, from, many);
     requires new: \forall integer k; owner_runs(a, o) <= k < owner_runs(b, o) ==>
       run_avoids(b, o, k, from, many);
     assigns \nothing;
     ensures avoids: owner_avoids(b, o, from, many); @/
  void avoided_on(struct cp_batch a, struct cp_batch b, int o, int from, int many) {
    /@ assert had: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_avoids(a, o, k, from, many)
         && run_same(a, o, b, o, k); @/
    /@ assert runs: runs_avoid(b, o, owner_runs(b, o), from, many); @/
    if (o < 0) {
      /@ assert ok: prompt_ok(a, -1 - o); @/
      /@ assert counts: \forall integer i; 0 <= i < a.prompt[-1 - o].n_items ==>
           item_there(a, prompt_item(a, -1 - o, i)) &&
           owner_ok(a, prompt_item(a, -1 - o, i)); @/
      /@ assert stay: items_stay_to(a, -1 - o, b, a.prompt[-1 - o].n_items); @/
      items_avoid_still(a, -1 - o, b, a.prompt[-1 - o].n_items, from, many);
    }
  }

  /@ requires ok: batch_ok(a) && owner_exists(a, o);
     requires added: run_added(a, b, o, at, n) && 1 <= n;
     requires avoids: owner_avoids(a, o, at, end - at) && 0 <= at <= at + n <= end;
     assigns \nothing;
     ensures avoids: owner_avoids(b, o, at + n, end - (at + n)); @/
  void rest_avoided(struct cp_batch a, struct cp_batch b, int o, int at, int n, int end) {
    /@ assert runs: runs_avoid(a, o, owner_runs(a, o), at + n, end - (at + n)); @/
    /@ assert items: o < 0 ==> \forall integer i; 0 <= i < a.prompt[-1 - o].n_items ==>
         runs_avoid(a, prompt_item(a, -1 - o, i), owner_runs(a, prompt_item(a, -1 - o, i)),
           at + n, end - (at + n)); @/
    /@ assert last: run_avoids(b, o, owner_runs(a, o), at + n, end - (at + n)); @/
    /@ assert one: \forall integer k; owner_runs(a, o) <= k < owner_runs(b, o) ==>
         k == owner_runs(a, o); @/
    avoided_on(a, b, o, at + n, end - (at + n));
  }
*/

#endif
