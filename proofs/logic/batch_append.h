/* SPDX-License-Identifier: Apache-2.0 */
/* What stays valid when a prompt gets a token: steps of the proof of ref/batch_append.c. Provers
 * alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_APPEND_H
#define CHUNKPROOF_LOGIC_BATCH_APPEND_H

#include "proofs/logic/batch_add.h"

/*@
  // The last own run of prompt p has a token more; all else is the same.
  predicate token_added(struct cp_batch a, struct cp_batch b, integer p) =
    sizes_same(a, b) && nothing_left(a, b) && runs_kept(a, b, CP_MAX_ITEMS) &&
    prompts_kept(a, b, -1 - p) && prompt_kept(a, b, p) && run_longer(a, b, p) &&
    own_kept(a, b, p, last_own(a, p)) && b.prompt[p].n_tokens == a.prompt[p].n_tokens + 1;
  // A token of this position may do so.
  predicate token_goes(struct cp_batch a, integer p, integer position) =
    token_fits(a, p, position) && token_grows(a, p, position);
  // Owner o has its runs in the chunks in which it had them.
  predicate chunks_kept(struct cp_batch a, struct cp_batch b, integer o) =
    owner_runs(b, o) == owner_runs(a, o) &&
    (\forall integer k; 0 <= k < owner_runs(a, o) ==> owner_chunk(b, o, k) == owner_chunk(a, o, k));
*/

/*@ ghost
  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts;
     assigns \nothing;
     ensures fits: prompt_fits(b, p);
     ensures counts: prompt_counts(b, p); @/
  void prompt_is_countable(struct cp_batch b, int p) {
    /@ assert ok: prompt_ok(b, p) && owner_ok(b, -1 - p); @/
    /@ assert there: \forall integer i; 0 <= i < b.prompt[p].n_items ==>
         item_there(b, prompt_item(b, p, i)); @/
    /@ assert items: \forall integer i; 0 <= i < b.prompt[p].n_items ==>
         owner_ok(b, prompt_item(b, p, i)); @/
    /@ assert counts: \forall integer i; 0 <= i < b.prompt[p].n_items ==>
         runs_count(b, prompt_item(b, p, i), owner_runs(b, prompt_item(b, p, i))); @/
  }

  /@ requires ok: batch_ok(a) && some_left(a, b) && 0 <= p < a.n_prompts;
     assigns \nothing;
     ensures stay: items_stay_to(a, p, b, a.prompt[p].n_items); @/
  void items_had_stay(struct cp_batch a, struct cp_batch b, int p) {
    users_are_bound(a);
    /@ assert ok: prompt_ok(a, p); @/
    /@ assert has: \forall integer i; 0 <= i < a.prompt[p].n_items ==>
         prompt_has_item(a, p, prompt_item(a, p, i)); @/
    /@ assert there: \forall integer i; 0 <= i < a.prompt[p].n_items ==>
         item_there(a, prompt_item(a, p, i)) && owner_ok(a, prompt_item(a, p, i)); @/
    /@ assert users: \forall integer i; 0 <= i < a.prompt[p].n_items ==>
         1 <= a.item[prompt_item(a, p, i)].n_users; @/
    /@ assert same: \forall integer i; 0 <= i < a.prompt[p].n_items ==>
         item_same(a, b, prompt_item(a, p, i)); @/
  }

  /@ requires ok: batch_ok(a) && some_left(a, b) && 0 <= p < a.n_prompts;
     requires stay: items_stay_to(a, p, b, a.prompt[p].n_items);
     assigns \nothing;
     ensures same: items_runs(b, p, a.prompt[p].n_items) ==
       items_runs(a, p, a.prompt[p].n_items); @/
  void items_runs_stay(struct cp_batch a, struct cp_batch b, int p) {
    /@ assert ok: prompt_ok(a, p); @/
    /@ assert equal: b.prompt[p] == a.prompt[p]; @/
    /@ loop invariant i: 0 <= i <= a.prompt[p].n_items;
       loop invariant same: items_runs(b, p, i) == items_runs(a, p, i);
       loop assigns i; loop variant a.prompt[p].n_items - i; @/
    for (int i = 0; i < a.prompt[p].n_items; i++) {
      /@ assert item: prompt_item(b, p, i) == prompt_item(a, p, i); @/
      /@ assert runs: runs_same(a, prompt_item(a, p, i), b, prompt_item(a, p, i)); @/
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts;
     assigns \nothing;
     ensures some: 0 <= items_runs(b, p, b.prompt[p].n_items); @/
  void items_runs_some(struct cp_batch b, int p) {
    /@ assert ok: prompt_ok(b, p); @/
    /@ loop invariant i: 0 <= i <= b.prompt[p].n_items;
       loop invariant some: 0 <= items_runs(b, p, i);
       loop assigns i; loop variant b.prompt[p].n_items - i; @/
    for (int i = 0; i < b.prompt[p].n_items; i++) {
      /@ assert there: item_there(b, prompt_item(b, p, i)); @/
    }
  }

  /@ requires ok: batch_ok(a) && some_left(a, b) && token_fits(a, p, position);
     requires fits: run_fits(a, p);
     assigns \nothing;
     ensures room: owner_has_room(b, -1 - p, position, 1); @/
  void room_is_still(struct cp_batch a, struct cp_batch b, int p, int position) {
    /@ assert ok: prompt_ok(a, p) && owner_ok(a, -1 - p); @/
    /@ assert equal: b.prompt[p] == a.prompt[p]; @/
    /@ assert items: \forall integer i; prompt_item(b, p, i) == prompt_item(a, p, i); @/
    items_had_stay(a, b, p);
    items_runs_stay(a, b, p);
    items_avoid_still(a, p, b, a.prompt[p].n_items, position, 1);
    runs_avoid_still(a, -1 - p, b, -1 - p, position, 1);
    /@ assert avoids: owner_avoids(b, -1 - p, position, 1); @/
    items_runs_some(a, p);
    /@ assert takes: owner_takes(b, -1 - p, 1); @/
  }

  /@ requires ok: batch_ok(a) && 0 <= p < a.n_prompts && token_added(a, b, p);
     requires owner: owner_exists(a, o) && o != -1 - p;
     assigns \nothing;
     ensures same: runs_same(a, o, b, o); @/
  void others_stay(struct cp_batch a, struct cp_batch b, int p, int o) {
    /@ assert ok: owner_ok(a, o); @/
    /@ assert prompt: o < 0 ==> b.prompt[-1 - o] == a.prompt[-1 - o]; @/
    /@ assert item: 0 <= o ==> item_same(a, b, o); @/
    /@ assert same_prompt: o < 0 ==> runs_same(a, o, b, o); @/
    /@ assert same_item: 0 <= o ==> runs_same(a, o, b, o); @/
  }

  /@ requires ok: batch_ok(a) && 0 <= p < a.n_prompts && token_added(a, b, p);
     requires owner: owner_exists(a, o);
     assigns \nothing;
     ensures kept: chunks_kept(a, b, o); @/
  void chunks_are_kept(struct cp_batch a, struct cp_batch b, int p, int o) {
    if (o != -1 - p) {
      others_stay(a, b, p, o);
      /@ assert other: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_same(a, o, b, o, k); @/
      /@ assert other_kept: chunks_kept(a, b, o); @/
    }
    else {
      /@ assert before: \forall integer k; 0 <= k < last_own(a, p) ==>
           owner_chunk(b, o, k) == owner_chunk(a, o, k); @/
      /@ assert runs: owner_runs(b, o) == owner_runs(a, o) == last_own(a, p) + 1 &&
           last_own(b, p) == last_own(a, p); @/
      /@ assert last: owner_chunk(b, o, last_own(a, p)) == owner_chunk(a, o, last_own(a, p)); @/
      /@ assert all: \forall integer k; 0 <= k < owner_runs(a, o) ==>
           k < last_own(a, p) || k == last_own(a, p); @/
      /@ assert own_kept: chunks_kept(a, b, o); @/
    }
  }

  /@ requires ok: pool_ok(a.pool) && b.pool == a.pool;
     assigns \nothing;
     ensures ok: pool_ok(b.pool); @/
  void pool_as_before(struct cp_batch a, struct cp_batch b) {
    /@ assert perm: \forall integer i; b.pool.perm[i] == a.pool.perm[i]; @/
    /@ assert pos: \forall integer i; b.pool.pos[i] == a.pool.pos[i]; @/
    /@ assert size: pool_size(b.pool); @/
    /@ assert perm_ok: pool_perm(b.pool); @/
    /@ assert pos_ok: pool_pos(b.pool); @/
  }

  /@ requires owned: runs_owned(a, o) && chunks_kept(a, b, o) && nothing_left(a, b);
     requires ok: pool_ok(a.pool) && pool_size(a.pool);
     assigns \nothing;
     ensures owned: runs_owned(b, o); @/
  void owned_as_before(struct cp_batch a, struct cp_batch b, int o) {
    /@ assert had: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_owned(a, o, k) &&
         owner_same(a, b, owner_chunk(a, o, k)); @/
    /@ assert owned: \forall integer k; 0 <= k < owner_runs(a, o) ==> run_owned(b, o, k); @/
  }

  /@ requires ok: batch_ok(a) && token_goes(a, p, position) && token_added(a, b, p);
     assigns \nothing;
     ensures range: run_in_range(b, -1 - p, last_own(b, p)); @/
  void longer_in_range(struct cp_batch a, struct cp_batch b, int p, int position) {
    /@ assert ok: owner_ok(a, -1 - p); @/
    /@ assert last: run_in_range(a, -1 - p, last_own(a, p)); @/
  }

  /@ requires ok: batch_ok(a) && token_goes(a, p, position) && token_added(a, b, p);
     requires k: 0 <= k < last_own(a, p);
     assigns \nothing;
     ensures avoids: run_avoids(b, -1 - p, k, owner_position(b, -1 - p, last_own(b, p)),
       owner_tokens(b, -1 - p, last_own(b, p))); @/
  void longer_avoids(struct cp_batch a, struct cp_batch b, int p, int position, int k) {
    /@ assert ok: owner_ok(a, -1 - p); @/
    /@ assert range: run_in_range(a, -1 - p, k) && run_in_range(a, -1 - p, last_own(a, p)); @/
    /@ assert apart: run_is_apart(a, -1 - p, last_own(a, p)); @/
    /@ assert avoided: run_avoids(a, -1 - p, k, owner_position(a, -1 - p, last_own(a, p)),
         owner_tokens(a, -1 - p, last_own(a, p))); @/
    /@ assert free: run_avoids(a, -1 - p, k, position, 1); @/
    /@ assert same: run_same(a, -1 - p, b, -1 - p, k); @/
  }

  /@ requires ok: batch_ok(a) && token_goes(a, p, position) && token_added(a, b, p);
     assigns \nothing;
     ensures ok: owner_ok(b, -1 - p); @/
  void longer_owner_ok(struct cp_batch a, struct cp_batch b, int p, int position) {
    int last = a.prompt[p].n_own - 1;
    /@ assert ok: owner_ok(a, -1 - p); @/
    /@ assert same: \forall integer k; 0 <= k < last ==> run_same(a, -1 - p, b, -1 - p, k); @/
    /@ assert range: \forall integer k; 0 <= k < last ==> run_in_range(a, -1 - p, k); @/
    /@ assert range_still: \forall integer k; 0 <= k < last ==> run_in_range(b, -1 - p, k); @/
    longer_in_range(a, b, p, position);
    /@ assert apart: \forall integer k; 0 <= k < last ==> run_is_apart(a, -1 - p, k); @/
    /@ assert avoided: \forall integer k, h; 0 <= h < k < last ==>
         run_avoids(a, -1 - p, h, owner_position(a, -1 - p, k), owner_tokens(a, -1 - p, k)); @/
    /@ assert where: \forall integer k; 0 <= k < last ==>
         owner_position(b, -1 - p, k) == owner_position(a, -1 - p, k) &&
         owner_tokens(b, -1 - p, k) == owner_tokens(a, -1 - p, k); @/
    /@ assert avoids: \forall integer k, h; 0 <= h < k < last ==>
         run_avoids(b, -1 - p, h, owner_position(b, -1 - p, k), owner_tokens(b, -1 - p, k)); @/
    /@ assert apart_still: \forall integer k; 0 <= k < last ==> run_is_apart(b, -1 - p, k); @/
    /@ loop invariant k: 0 <= k <= last;
       loop invariant avoids: runs_avoid(b, -1 - p, k, owner_position(b, -1 - p, last_own(b, p)),
         owner_tokens(b, -1 - p, last_own(b, p)));
       loop assigns k; loop variant last - k; @/
    for (int k = 0; k < last; k++) {
      longer_avoids(a, b, p, position, k);
    }
    /@ assert last: run_is_apart(b, -1 - p, last); @/
    /@ assert all: \forall integer k; 0 <= k < owner_runs(b, -1 - p) ==> k < last || k == last; @/
  }

  /@ requires ok: batch_ok(a) && 0 <= p < a.n_prompts && token_added(a, b, p);
     requires some: 0 <= last_own(a, p);
     assigns \nothing;
     ensures sum: owner_sum(b, -1 - p, b.prompt[p].n_own) ==
       owner_sum(a, -1 - p, a.prompt[p].n_own) + 1; @/
  void longer_sum(struct cp_batch a, struct cp_batch b, int p) {
    int last = a.prompt[p].n_own - 1;
    /@ loop invariant k: 0 <= k <= last;
       loop invariant sum: owner_sum(b, -1 - p, k) == owner_sum(a, -1 - p, k);
       loop assigns k; loop variant last - k; @/
    for (int k = 0; k < last; k++) {
      /@ assert run: run_same(a, -1 - p, b, -1 - p, k); @/
    }
    /@ assert was: owner_sum(a, -1 - p, last + 1) ==
         owner_sum(a, -1 - p, last) + owner_tokens(a, -1 - p, last); @/
    /@ assert is: owner_sum(b, -1 - p, last + 1) ==
         owner_sum(b, -1 - p, last) + owner_tokens(b, -1 - p, last); @/
  }

  /@ requires ok: batch_ok(a) && token_goes(a, p, position) && token_added(a, b, p);
     requires many: 1 <= many;
     requires avoids: runs_avoid(a, -1 - p, a.prompt[p].n_own, from, many);
     requires token: position + 1 <= from || from + many <= position;
     assigns \nothing;
     ensures avoids: runs_avoid(b, -1 - p, b.prompt[p].n_own, from, many); @/
  void own_avoid_still(struct cp_batch a, struct cp_batch b, int p, int position, int from,
                       int many) {
    int last = a.prompt[p].n_own - 1;
    /@ assert ok: owner_ok(a, -1 - p); @/
    /@ assert range: run_in_range(a, -1 - p, last); @/
    /@ assert had: \forall integer k; 0 <= k < last ==> run_avoids(a, -1 - p, k, from, many) &&
         run_same(a, -1 - p, b, -1 - p, k); @/
    /@ assert still: \forall integer k; 0 <= k < last ==> run_avoids(b, -1 - p, k, from, many); @/
    /@ assert was: run_avoids(a, -1 - p, last, from, many); @/
    /@ assert last: run_avoids(b, -1 - p, last, from, many); @/
    /@ assert all: \forall integer k; 0 <= k < b.prompt[p].n_own ==> k < last || k == last; @/
  }

  /@ requires ok: batch_ok(a) && token_goes(a, p, position) && token_added(a, b, p);
     requires stay: items_stay(a, p, b);
     requires n: 0 <= n < a.prompt[p].n_items && item == prompt_item(a, p, n);
     assigns \nothing;
     ensures avoids: prompt_avoids_owner(b, p, n, item); @/
  void item_avoids_still(struct cp_batch a, struct cp_batch b, int p, int position, int n,
                         int item) {
    /@ assert ok: prompt_ok(a, p) && item_there(a, item) && owner_ok(a, item); @/
    /@ assert same: runs_same(a, item, b, item); @/
    /@ assert apart: prompt_avoids_owner(a, p, n, item); @/
    /@ assert free: runs_avoid(a, item, owner_runs(a, item), position, 1); @/
    /@ loop invariant k: 0 <= k <= owner_runs(a, item);
       loop invariant avoids: \forall integer h; 0 <= h < k ==>
         prompt_avoids(b, p, n, owner_position(b, item, h), owner_tokens(b, item, h));
       loop assigns k; loop variant owner_runs(a, item) - k; @/
    for (int k = 0; k < a.item[item].n_runs; k++) {
      /@ assert run: run_same(a, item, b, item, k); @/
      /@ assert range: run_in_range(a, item, k); @/
      /@ assert avoided: prompt_avoids(a, p, n, owner_position(a, item, k),
           owner_tokens(a, item, k)); @/
      items_avoid_still(a, p, b, n, a.runs[item].run[k].position, a.runs[item].run[k].n_tokens);
      /@ assert token: run_avoids(a, item, k, position, 1); @/
      own_avoid_still(a, b, p, position, a.runs[item].run[k].position,
                      a.runs[item].run[k].n_tokens);
    }
  }

  /@ requires ok: batch_ok(a) && token_goes(a, p, position) && token_added(a, b, p);
     requires stay: items_stay(a, p, b);
     assigns \nothing;
     ensures ok: prompt_ok(b, p); @/
  void longer_prompt_ok(struct cp_batch a, struct cp_batch b, int p, int position) {
    /@ assert ok: prompt_ok(a, p) && owner_ok(a, -1 - p); @/
    longer_sum(a, b, p);
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
      item_avoids_still(a, b, p, position, i, item);
      /@ assert next: prompt_avoids_owner(b, p, i, prompt_item(b, p, i)); @/
    }
  }

  /@ requires prompt: 0 <= q < CP_MAX_SEQUENCES && prompts_kept(a, b, -1 - p) &&
       prompt_kept(a, b, p);
     assigns \nothing;
     ensures items: \forall integer i; prompt_item(b, q, i) == prompt_item(a, q, i);
     ensures has: \forall integer i; prompt_has_item(a, q, i) <==> prompt_has_item(b, q, i); @/
  void items_are_kept(struct cp_batch a, struct cp_batch b, int p, int q) {
    if (q == p) {
      /@ assert kept: prompt_kept(a, b, q); @/
    }
    else {
      /@ assert equal: b.prompt[q] == a.prompt[q]; @/
    }
  }

  /@ requires ok: batch_ok(a) && token_goes(a, p, position) && token_added(a, b, p);
     requires same: \forall integer o; owner_exists(a, o) ==> o != -1 - p ==> runs_same(a, o, b, o);
     requires prompt: 0 <= q < a.n_prompts;
     assigns \nothing;
     ensures ok: prompt_ok(b, q); @/
  void prompt_ok_still(struct cp_batch a, struct cp_batch b, int p, int position, int q) {
    /@ assert ok: prompt_ok(a, q) && owner_ok(a, -1 - q); @/
    items_are_kept(a, b, p, q);
    /@ assert there: \forall integer i; 0 <= i < a.prompt[q].n_items ==>
         item_there(a, prompt_item(a, q, i)); @/
    /@ assert stay: items_stay(a, q, b); @/
    if (q == p) {
      longer_prompt_ok(a, b, p, position);
    }
    else {
      /@ assert equal: b.prompt[q] == a.prompt[q]; @/
      /@ assert own: runs_same(a, -1 - q, b, -1 - q); @/
      /@ assert same: prompt_same(a, q, b, q); @/
      prompt_stays(a, q, b, q);
    }
  }

  /@ requires owned: chunks_owned(a) && sizes_same(a, b) && nothing_left(a, b);
     requires pool: pool_size(a.pool);
     requires kept: \forall integer o; owner_exists(a, o) ==> chunks_kept(a, b, o);
     assigns \nothing;
     ensures owned: chunks_owned(b); @/
  void chunks_owned_still(struct cp_batch a, struct cp_batch b) {
    /@ assert was: \forall integer x; pool_used(b.pool, x) ==> chunk_owned(a, x) &&
         owner_same(a, b, x) && chunks_kept(a, b, a.owner[x].owner); @/
  }

  /@ requires ok: batch_ok(a) && token_goes(a, p, position) && token_added(a, b, p);
     assigns \nothing;
     ensures ok: batch_ok(b); @/
  void longer_is_ok(struct cp_batch a, struct cp_batch b, int p, int position) {
    /@ loop invariant o: -b.n_prompts <= o <= b.n_items;
       loop invariant owners: owners_to(b, o);
       loop invariant owned: owned_to(b, o);
       loop invariant kept: \forall integer u; -b.n_prompts <= u < o ==> chunks_kept(a, b, u);
       loop invariant same: \forall integer u; -b.n_prompts <= u < o ==> u != -1 - p ==>
         runs_same(a, u, b, u);
       loop assigns o; loop variant b.n_items - o; @/
    for (int o = -b.n_prompts; o < b.n_items; o++) {
      /@ assert ok: owner_ok(a, o) && runs_owned(a, o); @/
      chunks_are_kept(a, b, p, o);
      owned_as_before(a, b, o);
      if (o == -1 - p) {
        longer_owner_ok(a, b, p, position);
      }
      else {
        others_stay(a, b, p, o);
        owner_stays(a, o, b, o);
      }
    }
    /@ assert items: items_kept(a, b, -1 - p); @/
    names_stay(a, b, -1 - p);
    /@ loop invariant q: 0 <= q <= b.n_prompts;
       loop invariant prompts: prompts_to(b, q);
       loop invariant has: \forall integer r, i; 0 <= r < q ==>
         (prompt_has_item(a, r, i) <==> prompt_has_item(b, r, i));
       loop assigns q; loop variant b.n_prompts - q; @/
    for (int q = 0; q < b.n_prompts; q++) {
      items_are_kept(a, b, p, q);
      prompt_ok_still(a, b, p, position, q);
    }
    /@ assert kept: \forall integer o; owner_exists(a, o) ==> chunks_kept(a, b, o); @/
    chunks_owned_still(a, b);
    users_stay(a, b);
    counts_stay(a, b, -1 - p);
    pool_as_before(a, b);
    /@ assert lists: batch_lists(b); @/
    /@ assert chunks: batch_chunks(b); @/
  }

  /@ requires left: items_left(a, m) && left_in_order(a, m) && left_for(a, m, 1);
     requires items: 0 <= a.n_items <= CP_MAX_ITEMS &&
       \forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(m, b, i);
     requires taken: b.pool.n_free == m.pool.n_free - 1;
     assigns \nothing;
     ensures left: items_left(a, b);
     ensures order: left_in_order(a, b);
     ensures needed: left_needed(a, b); @/
  void left_since(struct cp_batch a, struct cp_batch m, struct cp_batch b) {
    /@ assert gone: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         (item_left(a, m, i) <==> item_left(a, b, i)); @/
    /@ assert stay: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         (item_same(a, m, i) <==> item_same(a, b, i)); @/
    /@ assert items: items_left(a, b); @/
    /@ assert may: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         (may_leave(m, i) <==> may_leave(b, i)); @/
    /@ assert order: left_in_order(a, b); @/
    /@ assert last: \forall integer i; left_last(a, m, 1, i) ==> left_last(a, b, 0, i); @/
    /@ assert some: (\exists integer i; left_last(a, m, 1, i)) ==> left_needed(a, b); @/
  }

  /@ requires kept: owners_keep(a, m);
     requires items: 0 <= a.n_items <= CP_MAX_ITEMS &&
       \forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(m, b, i);
     requires free: !pool_used(m.pool, x);
     assigns \nothing;
     ensures free: chunk_was_free(a, b, x); @/
  void was_free(struct cp_batch a, struct cp_batch m, struct cp_batch b, int x) {
    /@ assert keeps: owner_keeps(a, m, x); @/
  }
*/

#endif
