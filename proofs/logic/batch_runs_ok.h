/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a valid batch is a valid plan of runs (BATCH-9, RUNS-1 to RUNS-3): steps of the proof
 * of ref/batch_plan.c. Each ghost function is a lemma: its contract is the statement, its body the
 * proof; a loop is an induction. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_RUNS_OK_H
#define CHUNKPROOF_LOGIC_BATCH_RUNS_OK_H

#include "proofs/logic/batch_given.h"
#include "proofs/logic/plan_runs.h"

/*@
  // Prompt s has the runs of owner o.
  predicate prompt_has_owner(struct cp_batch b, integer s, integer o) =
    o == -1 - s || (0 <= o && prompt_has_item(b, s, o));
  // Run j of owner o has no position of run k of owner u; nor has any run of o one of u.
  predicate two_are_apart_in(struct cp_batch b, integer o, integer j, integer u, integer k) =
    owner_position(b, o, j) + owner_tokens(b, o, j) <= owner_position(b, u, k) ||
    owner_position(b, u, k) + owner_tokens(b, u, k) <= owner_position(b, o, j);
  predicate owners_apart(struct cp_batch b, integer o, integer u) =
    \forall integer j, k; 0 <= j < owner_runs(b, o) ==> 0 <= k < owner_runs(b, u) ==>
      two_are_apart_in(b, o, j, u, k);

  // Whose run k of sequence s is.
  logic integer owner_at(struct cp_plan p, struct cp_batch b, integer s, integer k) =
    b.owner[plan_chunk(p, s, k)].owner;
  logic integer run_at(struct cp_plan p, struct cp_batch b, integer s, integer k) =
    b.owner[plan_chunk(p, s, k)].run;
  predicate run_of_owner(struct cp_plan p, struct cp_batch b, integer s, integer k, integer o,
                         integer j) =
    prompt_has_owner(b, s, o) && 0 <= j < owner_runs(b, o) &&
    plan_chunk(p, s, k) == owner_chunk(b, o, j) && plan_tokens(p, s, k) == owner_tokens(b, o, j) &&
    plan_position(p, s, k) == owner_position(b, o, j);
  predicate run_is_of(struct cp_plan p, struct cp_batch b, integer s, integer k) =
    run_of_owner(p, b, s, k, owner_at(p, b, s, k), run_at(p, b, s, k));
  // The first n runs of sequence s are runs of the prompt, apart, and none is that of owner o.
  predicate placed_to(struct cp_plan p, struct cp_batch b, integer s, integer n) =
    (\forall integer k; 0 <= k < n ==> run_is_of(p, b, s, k)) && runs_before(p, s, n);
  predicate none_of(struct cp_plan p, struct cp_batch b, integer s, integer n, integer o) =
    \forall integer k; 0 <= k < n ==> owner_at(p, b, s, k) != o;
  predicate only_below(struct cp_plan p, struct cp_batch b, integer s, integer n, integer i) =
    \forall integer k; 0 <= k < n ==> 0 <= owner_at(p, b, s, k) < i &&
      item_shared(b, owner_at(p, b, s, k));
  predicate only_before(struct cp_plan p, struct cp_batch b, integer s, integer n, integer m) =
    \forall integer k; 0 <= k < n ==> 0 <= owner_at(p, b, s, k) &&
      (item_shared(b, owner_at(p, b, s, k)) || items_have(b, s, m, owner_at(p, b, s, k)));
*/

/* ---- RUNS-1: tokens ---- */

/*@ ghost
  /@ requires owner: owner_fits(o) && 0 <= owner_runs(b, o);
     assigns \nothing;
     ensures more: \forall integer from; 0 <= from ==>
       tokens_of(p, s, from, b, o, owner_runs(b, o)) ==>
       run_tokens(p, s, from + owner_runs(b, o)) ==
         run_tokens(p, s, from) + owner_sum(b, o, owner_runs(b, o)); @/
  void tokens_add(struct cp_plan p, struct cp_batch b, int s, int o) {
    int k = 0;
    /@ loop invariant k: 0 <= k <= owner_runs(b, o);
       loop invariant more: \forall integer from; 0 <= from ==>
         tokens_of(p, s, from, b, o, owner_runs(b, o)) ==>
         run_tokens(p, s, from + k) == run_tokens(p, s, from) + owner_sum(b, o, k);
       loop assigns k; loop variant owner_runs(b, o) - k; @/
    while (k < (o < 0 ? b.prompt[-1 - o].n_own : b.item[o].n_runs)) {
      /@ assert next: \forall integer from; 0 <= from ==>
           run_tokens(p, s, from + k + 1) == run_tokens(p, s, from + k) +
             plan_tokens(p, s, from + k); @/
      /@ assert token: \forall integer from; 0 <= from ==>
           tokens_of(p, s, from, b, o, owner_runs(b, o)) ==>
           plan_tokens(p, s, from + k) == owner_tokens(b, o, k); @/
      k++;
    }
    /@ assert end: k == owner_runs(b, o); @/
  }

  /@ requires ok: batch_ok(b) && 0 <= s < b.n_prompts;
     requires sequence: sequence_of_prompt(p, b, s) && length_of_prompt(p, b, s);
     assigns \nothing;
     ensures own: runs_of(p, s, own_at(b, s), b, -1 - s); @/
  void own_is_whole(struct cp_plan p, struct cp_batch b, int s) {
    own_fits(b, s);
    /@ assert last: \forall integer k; own_at(b, s) <= k < own_at(b, s) + b.prompt[s].n_own ==>
         k < own_at(b, s) + (b.prompt[s].n_own - 1) || k == p.sequence[s].n_chunks - 1; @/
    /@ assert place: p.sequence[s].n_chunks - 1 - own_at(b, s) == b.prompt[s].n_own - 1; @/
    /@ assert token: \forall integer k; own_at(b, s) <= k < own_at(b, s) + b.prompt[s].n_own ==>
         plan_tokens(p, s, k) == owner_tokens(b, -1 - s, k - own_at(b, s)); @/
    /@ assert tokens: tokens_of(p, s, own_at(b, s), b, -1 - s, owner_runs(b, -1 - s)); @/
  }

  /@ requires ok: batch_ok(b) && 0 <= s < b.n_prompts;
     requires sequence: sequence_of_prompt(p, b, s) && length_of_prompt(p, b, s);
     assigns \nothing;
     ensures tokens: p.sequence[s].n_tokens == run_tokens(p, s, p.sequence[s].n_chunks); @/
  void tokens_are_sum(struct cp_plan p, struct cp_batch b, int s) {
    /@ assert ok: prompt_ok(b, s) && owner_ok(b, -1 - s); @/
    parts_are_all(b, s);
    own_is_whole(p, b, s);
    shared_are_in_order(b, s, b.n_items);
    /@ loop invariant i: 0 <= i <= b.n_items;
       loop invariant sum: run_tokens(p, s, shared_at(b, s, i)) ==
         shared_part(b, s, b.prompt[s].n_items, i, 2);
       loop assigns i; loop variant b.n_items - i; @/
    for (int i = 0; i < b.n_items; i++) {
      /@ assert ok: owner_ok(b, i); @/
      tokens_add(p, b, s, i);
      /@ assert yes: shared_with(b, s, b.prompt[s].n_items, i) ==>
           runs_of(p, s, shared_at(b, s, i), b, i) &&
           shared_at(b, s, i + 1) == shared_at(b, s, i) + owner_runs(b, i); @/
      /@ assert no: !shared_with(b, s, b.prompt[s].n_items, i) ==>
           shared_at(b, s, i + 1) == shared_at(b, s, i); @/
      /@ assert adds: shared_with(b, s, b.prompt[s].n_items, i) ==>
           run_tokens(p, s, shared_at(b, s, i) + owner_runs(b, i)) ==
             run_tokens(p, s, shared_at(b, s, i)) + owner_sum(b, i, owner_runs(b, i)); @/
      /@ assert size: item_size(b, i, 2) == owner_sum(b, i, owner_runs(b, i)); @/
      /@ assert part: shared_with(b, s, b.prompt[s].n_items, i) ==>
           shared_part(b, s, b.prompt[s].n_items, i + 1, 2) ==
             shared_part(b, s, b.prompt[s].n_items, i, 2) + item_size(b, i, 2); @/
      /@ assert now: shared_with(b, s, b.prompt[s].n_items, i) ==>
           run_tokens(p, s, shared_at(b, s, i + 1)) ==
             run_tokens(p, s, shared_at(b, s, i)) + item_size(b, i, 2); @/
      /@ assert same: !shared_with(b, s, b.prompt[s].n_items, i) ==>
           run_tokens(p, s, shared_at(b, s, i + 1)) == run_tokens(p, s, shared_at(b, s, i)); @/
    }
    alone_are_in_order(b, s, b.prompt[s].n_items);
    /@ loop invariant m: 0 <= m <= b.prompt[s].n_items;
       loop invariant sum: run_tokens(p, s, alone_at(b, s, m)) ==
         shared_part(b, s, b.prompt[s].n_items, b.n_items, 2) + alone_part(b, s, m, 2);
       loop assigns m; loop variant b.prompt[s].n_items - m; @/
    for (int m = 0; m < b.prompt[s].n_items; m++) {
      /@ assert there: item_there(b, prompt_item(b, s, m)) && owner_ok(b, prompt_item(b, s, m)); @/
      tokens_add(p, b, s, b.prompt[s].item[m]);
      /@ assert yes: !item_shared(b, prompt_item(b, s, m)) ==>
           runs_of(p, s, alone_at(b, s, m), b, prompt_item(b, s, m)) &&
           alone_at(b, s, m + 1) == alone_at(b, s, m) + owner_runs(b, prompt_item(b, s, m)); @/
      /@ assert no: item_shared(b, prompt_item(b, s, m)) ==>
           alone_at(b, s, m + 1) == alone_at(b, s, m); @/
      /@ assert begin: !item_shared(b, prompt_item(b, s, m)) ==> 0 <= alone_at(b, s, m); @/
      /@ assert adds: !item_shared(b, prompt_item(b, s, m)) ==>
           run_tokens(p, s, alone_at(b, s, m) + owner_runs(b, prompt_item(b, s, m))) ==
             run_tokens(p, s, alone_at(b, s, m)) +
             owner_sum(b, prompt_item(b, s, m), owner_runs(b, prompt_item(b, s, m))); @/
      /@ assert size: item_size(b, prompt_item(b, s, m), 2) ==
           owner_sum(b, prompt_item(b, s, m), owner_runs(b, prompt_item(b, s, m))); @/
      /@ assert part: !item_shared(b, prompt_item(b, s, m)) ==> alone_part(b, s, m + 1, 2) ==
           alone_part(b, s, m, 2) + item_size(b, prompt_item(b, s, m), 2); @/
      /@ assert now: !item_shared(b, prompt_item(b, s, m)) ==>
           run_tokens(p, s, alone_at(b, s, m + 1)) ==
             run_tokens(p, s, alone_at(b, s, m)) + item_size(b, prompt_item(b, s, m), 2); @/
      /@ assert same: item_shared(b, prompt_item(b, s, m)) ==>
           run_tokens(p, s, alone_at(b, s, m + 1)) == run_tokens(p, s, alone_at(b, s, m)); @/
    }
    own_fits(b, s);
    tokens_add(p, b, s, -1 - s);
    /@ assert own: owner_runs(b, -1 - s) == b.prompt[s].n_own; @/
    /@ assert its: tokens_of(p, s, own_at(b, s), b, -1 - s, owner_runs(b, -1 - s)); @/
    /@ assert adds: run_tokens(p, s, own_at(b, s) + owner_runs(b, -1 - s)) ==
         run_tokens(p, s, own_at(b, s)) + owner_sum(b, -1 - s, owner_runs(b, -1 - s)); @/
    /@ assert end: p.sequence[s].n_chunks == own_at(b, s) + owner_runs(b, -1 - s); @/
    /@ assert all: run_tokens(p, s, p.sequence[s].n_chunks) ==
         run_tokens(p, s, own_at(b, s)) + owner_sum(b, -1 - s, b.prompt[s].n_own); @/
  }
*/

/* ---- RUNS-1: positions ---- */

/*@ ghost
  /@ requires ok: batch_ok(b) && 0 <= s < b.n_prompts;
     assigns \nothing;
     ensures apart: \forall integer o, u; prompt_has_owner(b, s, o) ==>
       prompt_has_owner(b, s, u) ==> o != u ==> owners_apart(b, o, u); @/
  void owners_are_apart(struct cp_batch b, int s) {
    /@ assert ok: prompt_ok(b, s); @/
    /@ assert avoided: \forall integer i, k; 0 <= i < b.prompt[s].n_items ==>
         0 <= k < owner_runs(b, prompt_item(b, s, i)) ==>
         prompt_avoids(b, s, i, owner_position(b, prompt_item(b, s, i), k),
                       owner_tokens(b, prompt_item(b, s, i), k)); @/
    /@ assert own: \forall integer i, j, k; 0 <= i < b.prompt[s].n_items ==>
         0 <= k < owner_runs(b, prompt_item(b, s, i)) ==> 0 <= j < b.prompt[s].n_own ==>
         two_are_apart_in(b, -1 - s, j, prompt_item(b, s, i), k); @/
    /@ assert own_item: \forall integer i; 0 <= i < b.prompt[s].n_items ==>
         owners_apart(b, -1 - s, prompt_item(b, s, i)); @/
    /@ assert item_own: \forall integer i; 0 <= i < b.prompt[s].n_items ==>
         owners_apart(b, prompt_item(b, s, i), -1 - s); @/
    /@ assert before: \forall integer h, i, k; 0 <= h < i < b.prompt[s].n_items ==>
         0 <= k < owner_runs(b, prompt_item(b, s, i)) ==>
         runs_avoid(b, prompt_item(b, s, h), owner_runs(b, prompt_item(b, s, h)),
                    owner_position(b, prompt_item(b, s, i), k),
                    owner_tokens(b, prompt_item(b, s, i), k)); @/
    /@ assert two: \forall integer h, i, j, k; 0 <= h < i < b.prompt[s].n_items ==>
         0 <= j < owner_runs(b, prompt_item(b, s, h)) ==>
         0 <= k < owner_runs(b, prompt_item(b, s, i)) ==>
         two_are_apart_in(b, prompt_item(b, s, h), j, prompt_item(b, s, i), k); @/
    /@ assert items: \forall integer h, i; 0 <= h < i < b.prompt[s].n_items ==>
         owners_apart(b, prompt_item(b, s, h), prompt_item(b, s, i)); @/
    /@ assert items_too: \forall integer h, i; 0 <= h < i < b.prompt[s].n_items ==>
         owners_apart(b, prompt_item(b, s, i), prompt_item(b, s, h)); @/
  }

  /@ requires ok: owner_ok(b, o);
     assigns \nothing;
     ensures apart: \forall integer i, j; 0 <= i < j < owner_runs(b, o) ==>
       two_are_apart_in(b, o, i, o, j); @/
  void its_runs_are_apart(struct cp_batch b, int o) {
    /@ assert runs: \forall integer j; 0 <= j < owner_runs(b, o) ==> run_is_apart(b, o, j); @/
  }

  /@ requires owned: runs_owned(b, o) && prompt_has_owner(b, s, o);
     assigns \nothing;
     ensures its: \forall integer from, k; runs_of(p, s, from, b, o) ==>
       from <= k < from + owner_runs(b, o) ==>
       owner_at(p, b, s, k) == o && run_at(p, b, s, k) == k - from &&
       run_of_owner(p, b, s, k, o, k - from);
     ensures of: \forall integer from, k; runs_of(p, s, from, b, o) ==>
       from <= k < from + owner_runs(b, o) ==> run_is_of(p, b, s, k); @/
  void runs_have_owner(struct cp_plan p, struct cp_batch b, int s, int o) {
    /@ assert owned: \forall integer j; 0 <= j < owner_runs(b, o) ==> run_owned(b, o, j); @/
    /@ assert place: \forall integer from, k; runs_of(p, s, from, b, o) ==>
         from <= k < from + owner_runs(b, o) ==> run_of_owner(p, b, s, k, o, k - from); @/
    /@ assert owner: \forall integer from, k; runs_of(p, s, from, b, o) ==>
         from <= k < from + owner_runs(b, o) ==> owner_at(p, b, s, k) == o; @/
    /@ assert run: \forall integer from, k; runs_of(p, s, from, b, o) ==>
         from <= k < from + owner_runs(b, o) ==> run_at(p, b, s, k) == k - from; @/
    /@ assert same: \forall integer k, u, j; run_of_owner(p, b, s, k, u, j) ==>
         owner_at(p, b, s, k) == u ==> run_at(p, b, s, k) == j ==> run_is_of(p, b, s, k); @/
  }

  /@ requires apart: \forall integer u; prompt_has_owner(b, s, u) ==> u != o ==>
       owners_apart(b, u, o);
     assigns \nothing;
     ensures apart: \forall integer j, k; run_is_of(p, b, s, j) ==>
       owner_at(p, b, s, j) != o ==> 0 <= k < owner_runs(b, o) ==>
       two_are_apart_in(b, owner_at(p, b, s, j), run_at(p, b, s, j), o, k); @/
  void others_runs_are_apart(struct cp_plan p, struct cp_batch b, int s, int o) {
    /@ assert has: \forall integer j, u, h; run_of_owner(p, b, s, j, u, h) ==>
         prompt_has_owner(b, s, u) && 0 <= h < owner_runs(b, u); @/
    /@ assert two: \forall integer j, u, h, k; run_of_owner(p, b, s, j, u, h) ==> u != o ==>
         0 <= k < owner_runs(b, o) ==> two_are_apart_in(b, u, h, o, k); @/
  }

  /@ requires ok: batch_ok(b) && 0 <= s < b.n_prompts;
     requires sizes: plan_sizes_of_batch(p, b);
     requires owner: owner_exists(b, o) && prompt_has_owner(b, s, o);
     assigns \nothing;
     ensures placed: \forall integer from; 0 <= from ==> runs_of(p, s, from, b, o) ==>
       placed_to(p, b, s, from) ==> none_of(p, b, s, from, o) ==>
       placed_to(p, b, s, from + owner_runs(b, o));
     ensures its: \forall integer from, k; runs_of(p, s, from, b, o) ==>
       from <= k < from + owner_runs(b, o) ==> owner_at(p, b, s, k) == o; @/
  void runs_are_placed(struct cp_plan p, struct cp_batch b, int s, int o) {
    /@ assert ok: owner_ok(b, o) && runs_owned(b, o); @/
    its_runs_are_apart(b, o);
    runs_have_owner(p, b, s, o);
    owners_are_apart(b, s);
    others_runs_are_apart(p, b, s, o);
    /@ assert of: \forall integer from, k; runs_of(p, s, from, b, o) ==>
         from <= k < from + owner_runs(b, o) ==> run_is_of(p, b, s, k); @/
    /@ assert range: \forall integer j; 0 <= j < owner_runs(b, o) ==> run_in_range(b, o, j); @/
    /@ assert good: \forall integer from, k; runs_of(p, s, from, b, o) ==>
         from <= k < from + owner_runs(b, o) ==> run_ok(p, p.sequence[s].run[k]); @/
    /@ assert apart: \forall integer j, k, u, h, v, i; run_of_owner(p, b, s, j, u, h) ==>
         run_of_owner(p, b, s, k, v, i) ==> two_are_apart_in(b, u, h, v, i) ==>
         runs_apart(p.sequence[s].run[j], p.sequence[s].run[k]); @/
    /@ assert within: \forall integer from, j, k; runs_of(p, s, from, b, o) ==>
         from <= j < k < from + owner_runs(b, o) ==>
         two_are_apart_in(b, o, j - from, o, k - from) &&
         runs_apart(p.sequence[s].run[j], p.sequence[s].run[k]); @/
    /@ assert between: \forall integer from, j, k; runs_of(p, s, from, b, o) ==>
         0 <= j < from <= k < from + owner_runs(b, o) ==> run_is_of(p, b, s, j) ==>
         owner_at(p, b, s, j) != o ==>
         two_are_apart_in(b, owner_at(p, b, s, j), run_at(p, b, s, j), o, k - from) &&
         runs_apart(p.sequence[s].run[j], p.sequence[s].run[k]); @/
    /@ assert all: \forall integer from, k; 0 <= from ==> runs_of(p, s, from, b, o) ==>
         placed_to(p, b, s, from) ==> none_of(p, b, s, from, o) ==>
         from <= k < from + owner_runs(b, o) ==> apart_from_all(p, s, k); @/
  }

  /@ requires ok: batch_ok(b) && 0 <= s < b.n_prompts && 0 <= i < b.n_items;
     requires sizes: plan_sizes_of_batch(p, b);
     requires shares: shares_to(p, b, s, b.n_items);
     requires placed: placed_to(p, b, s, shared_at(b, s, i));
     requires below: only_below(p, b, s, shared_at(b, s, i), i);
     assigns \nothing;
     ensures placed: placed_to(p, b, s, shared_at(b, s, i + 1));
     ensures below: only_below(p, b, s, shared_at(b, s, i + 1), i + 1); @/
  void shared_is_placed(struct cp_plan p, struct cp_batch b, int s, int i) {
    int has = 0;
    shared_are_in_order(b, s, i);
    /@ assert new: none_of(p, b, s, shared_at(b, s, i), i); @/
    /@ assert yes: shared_with(b, s, b.prompt[s].n_items, i) ==>
         runs_of(p, s, shared_at(b, s, i), b, i) &&
         shared_at(b, s, i + 1) == shared_at(b, s, i) + owner_runs(b, i); @/
    /@ assert no: !shared_with(b, s, b.prompt[s].n_items, i) ==>
         shared_at(b, s, i + 1) == shared_at(b, s, i); @/
    /@ loop invariant m: 0 <= m <= b.prompt[s].n_items;
       loop invariant has: has != 0 <==> items_have(b, s, m, i);
       loop assigns m, has; loop variant b.prompt[s].n_items - m; @/
    for (int m = 0; m < b.prompt[s].n_items; m++) {
      has = has || b.prompt[s].item[m] == i;
    }
    if (has) {
      runs_are_placed(p, b, s, i);
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= s < b.n_prompts;
     requires sizes: plan_sizes_of_batch(p, b);
     requires sequence: sequence_of_prompt(p, b, s) && length_of_prompt(p, b, s);
     assigns \nothing;
     ensures runs: runs_list(p, s); @/
  void prompt_is_runs(struct cp_plan p, struct cp_batch b, int s) {
    tokens_are_sum(p, b, s);
    own_is_whole(p, b, s);
    own_fits(b, s);
    items_are_apart(b, s);
    /@ assert ok: prompt_ok(b, s) && owner_ok(b, -1 - s); @/
    shared_are_in_order(b, s, b.n_items);
    /@ loop invariant i: 0 <= i <= b.n_items;
       loop invariant placed: placed_to(p, b, s, shared_at(b, s, i));
       loop invariant below: only_below(p, b, s, shared_at(b, s, i), i);
       loop assigns i; loop variant b.n_items - i; @/
    for (int i = 0; i < b.n_items; i++) {
      shared_is_placed(p, b, s, i);
    }
    /@ loop invariant m: 0 <= m <= b.prompt[s].n_items;
       loop invariant placed: placed_to(p, b, s, alone_at(b, s, m));
       loop invariant before: only_before(p, b, s, alone_at(b, s, m), m);
       loop assigns m; loop variant b.prompt[s].n_items - m; @/
    for (int m = 0; m < b.prompt[s].n_items; m++) {
      alone_are_in_order(b, s, m);
      /@ assert there: item_there(b, prompt_item(b, s, m)) && owner_ok(b, prompt_item(b, s, m)); @/
      /@ assert more: \forall integer o; items_have(b, s, m, o) ==> items_have(b, s, m + 1, o); @/
      /@ assert has: items_have(b, s, m + 1, prompt_item(b, s, m)) &&
           prompt_has_item(b, s, prompt_item(b, s, m)); @/
      /@ assert new: !items_have(b, s, m, prompt_item(b, s, m)); @/
      /@ assert none: !item_shared(b, prompt_item(b, s, m)) ==>
           none_of(p, b, s, alone_at(b, s, m), prompt_item(b, s, m)); @/
      /@ assert yes: !item_shared(b, prompt_item(b, s, m)) ==>
           runs_of(p, s, alone_at(b, s, m), b, prompt_item(b, s, m)) &&
           alone_at(b, s, m + 1) == alone_at(b, s, m) + owner_runs(b, prompt_item(b, s, m)); @/
      /@ assert no: item_shared(b, prompt_item(b, s, m)) ==>
           alone_at(b, s, m + 1) == alone_at(b, s, m); @/
      runs_are_placed(p, b, s, b.prompt[s].item[m]);
    }
    /@ assert none: none_of(p, b, s, own_at(b, s), -1 - s); @/
    runs_are_placed(p, b, s, -1 - s);
    /@ assert placed: placed_to(p, b, s, p.sequence[s].n_chunks); @/
    /@ assert counts: 0 <= p.sequence[s].n_shared <= p.sequence[s].n_chunks <= CP_MAX_DEPTH; @/
    /@ assert good: \forall integer k; 0 <= k < p.sequence[s].n_chunks ==>
         run_ok(p, p.sequence[s].run[k]); @/
    /@ assert before: \forall integer k; 0 <= k < p.sequence[s].n_chunks ==>
         apart_from_all(p, s, k); @/
    /@ assert apart: \forall integer j, k; 0 <= j < k < p.sequence[s].n_chunks ==>
         runs_apart(p.sequence[s].run[j], p.sequence[s].run[k]); @/
  }
*/

/* ---- RUNS-2 ---- */

/*@ ghost
  /@ requires ok: batch_ok(b) && plan_paths_of_batch(p, b);
     requires item: 0 <= i < b.n_items && item_shared(b, i);
     assigns \nothing;
     ensures served: \forall integer d; descriptors(b, i) <= d < descriptors(b, i) +
       owner_runs(b, i) ==> runs_served(p, d);
     ensures serves: \forall integer d, s; descriptors(b, i) <= d < descriptors(b, i) +
       owner_runs(b, i) ==> 0 <= s < b.n_prompts ==>
       (runs_serves(p, d, s) <==> prompt_has_item(b, s, i)); @/
  void list_serves(struct cp_plan p, struct cp_batch b, int i) {
    list_fits(b, i);
    lists_are_in_order(b, b.n_items);
    users_are_in_order(b, i, b.n_prompts);
    /@ assert list: list_to(p, b, i, b.n_prompts); @/
    /@ assert described: item_described(p, b, i, owner_runs(b, i)); @/
    /@ assert lists: \forall integer d; descriptors(b, i) <= d < descriptors(b, i) +
         owner_runs(b, i) ==> p.shared[d].begin == list_at(b, i) &&
         p.shared[d].end == list_at(b, i) + users(b, i, b.n_prompts); @/
    /@ assert only: \forall integer d, s; descriptors(b, i) <= d < descriptors(b, i) +
         owner_runs(b, i) ==> runs_serves(p, d, s) ==> prompt_has_item(b, s, i); @/
    /@ assert all: \forall integer d, s; descriptors(b, i) <= d < descriptors(b, i) +
         owner_runs(b, i) ==> 0 <= s < b.n_prompts ==> prompt_has_item(b, s, i) ==>
         list_at(b, i) <= list_at(b, i) + users(b, i, s) <
           list_at(b, i) + users(b, i, b.n_prompts) &&
         p.served[list_at(b, i) + users(b, i, s)] == s; @/
  }
*/

/* ---- RUNS-3 ---- */

/*@ ghost
  /@ requires described: item_described(p, b, i, n) && 0 <= k < n;
     assigns \nothing;
     ensures describes: describes(p, descriptors(b, i) + k, b, i, k); @/
  void run_is_described(struct cp_plan p, struct cp_batch b, int i, int n, int k) {
  }

  /@ requires described: describes(p, d, b, i, k) && 0 <= k < owner_runs(b, i);
     requires runs: runs_of(p, s, shared_at(b, s, i), b, i);
     requires given: given(p, s, d) == shared_at(b, s, i) + k < p.sequence[s].n_shared;
     assigns \nothing;
     ensures next: runs_comes_next(p, d, s); @/
  void run_comes_next(struct cp_plan p, struct cp_batch b, int s, int i, int d, int k) {
    /@ assert tokens: plan_tokens(p, s, shared_at(b, s, i) + k) == owner_tokens(b, i, k); @/
    /@ assert chunk: plan_chunk(p, s, shared_at(b, s, i) + k) == owner_chunk(b, i, k); @/
    /@ assert place: plan_position(p, s, shared_at(b, s, i) + k) == owner_position(b, i, k); @/
  }

  /@ requires item: 0 <= i < CP_MAX_ITEMS && 0 <= owner_runs(b, i);
     requires prompt: 0 <= s < CP_MAX_SEQUENCES && 0 <= b.prompt[s].n_items <= CP_MAX_DEPTH;
     requires begin: at == descriptors(b, i) && 0 <= at && at + owner_runs(b, i) <= 0x7FFFFFFF;
     requires serves: \forall integer d; at <= d < at + owner_runs(b, i) ==>
       (runs_serves(p, d, s) <==> prompt_has_item(b, s, i));
     requires described: item_described(p, b, i, owner_runs(b, i));
     requires runs: prompt_has_item(b, s, i) ==> runs_of(p, s, shared_at(b, s, i), b, i) &&
       shared_at(b, s, i) + owner_runs(b, i) <= p.sequence[s].n_shared;
     requires given: given(p, s, at) == shared_at(b, s, i);
     assigns \nothing;
     ensures yes: prompt_has_item(b, s, i) ==>
       given(p, s, at + owner_runs(b, i)) == shared_at(b, s, i) + owner_runs(b, i);
     ensures no: !prompt_has_item(b, s, i) ==>
       given(p, s, at + owner_runs(b, i)) == shared_at(b, s, i);
     ensures next: \forall integer d; at <= d < at + owner_runs(b, i) ==> runs_serves(p, d, s) ==>
       runs_comes_next(p, d, s); @/
  void item_gives(struct cp_plan p, struct cp_batch b, int s, int i, int at) {
    int d = at, has = 0;
    /@ loop invariant m: 0 <= m <= b.prompt[s].n_items;
       loop invariant has: has != 0 <==> items_have(b, s, m, i);
       loop assigns m, has; loop variant b.prompt[s].n_items - m; @/
    for (int m = 0; m < b.prompt[s].n_items; m++) {
      has = has || b.prompt[s].item[m] == i;
    }
    /@ loop invariant d: at <= d <= at + owner_runs(b, i);
       loop invariant yes: prompt_has_item(b, s, i) ==>
         given(p, s, d) == shared_at(b, s, i) + (d - at);
       loop invariant no: !prompt_has_item(b, s, i) ==> given(p, s, d) == shared_at(b, s, i);
       loop invariant next: \forall integer e; at <= e < d ==> runs_serves(p, e, s) ==>
         runs_comes_next(p, e, s);
       loop assigns d; loop variant at + owner_runs(b, i) - d; @/
    while (d < at + b.item[i].n_runs) {
      run_is_described(p, b, i, b.item[i].n_runs, d - at);
      /@ assert serves: runs_serves(p, d, s) <==> prompt_has_item(b, s, i); @/
      if (has) {
        run_comes_next(p, b, s, i, d, d - at);
      }
      /@ assert next: runs_serves(p, d, s) ==> runs_comes_next(p, d, s); @/
      d++;
    }
    /@ assert end: d == at + owner_runs(b, i); @/
  }

  /@ requires ok: batch_ok(b) && plan_paths_of_batch(p, b) && 0 <= s < b.n_prompts;
     requires item: 0 <= i < b.n_items && item_shared(b, i) && at == descriptors(b, i);
     requires given: given(p, s, at) == shared_at(b, s, i);
     assigns \nothing;
     ensures end: descriptors(b, i + 1) == at + b.item[i].n_runs <= CP_MAX_CHUNKS;
     ensures given: given(p, s, descriptors(b, i + 1)) == shared_at(b, s, i + 1);
     ensures next: \forall integer d; at <= d < descriptors(b, i + 1) ==>
       runs_serves(p, d, s) ==> runs_comes_next(p, d, s); @/
  void item_is_given(struct cp_plan p, struct cp_batch b, int s, int i, int at) {
    list_serves(p, b, i);
    descriptors_are_in_order(b, i);
    descriptors_are_in_order(b, b.n_items);
    shared_are_in_order(b, s, b.n_items);
    /@ assert ok: owner_ok(b, i) && prompt_ok(b, s); @/
    /@ assert sequence: sequence_of_prompt(p, b, s); @/
    /@ assert described: item_described(p, b, i, owner_runs(b, i)); @/
    /@ assert runs: prompt_has_item(b, s, i) ==> runs_of(p, s, shared_at(b, s, i), b, i); @/
    /@ assert end: descriptors(b, i + 1) == at + owner_runs(b, i); @/
    /@ assert yes: prompt_has_item(b, s, i) ==>
         shared_at(b, s, i + 1) == shared_at(b, s, i) + owner_runs(b, i); @/
    /@ assert no: !prompt_has_item(b, s, i) ==> shared_at(b, s, i + 1) == shared_at(b, s, i); @/
    item_gives(p, b, s, i, at);
  }

  /@ requires ok: batch_ok(b) && plan_paths_of_batch(p, b) && 0 <= s < b.n_prompts;
     assigns \nothing;
     ensures given: given(p, s, p.n_shared) == p.sequence[s].n_shared;
     ensures next: \forall integer d; 0 <= d < p.n_shared ==> runs_serves(p, d, s) ==>
       runs_comes_next(p, d, s); @/
  void prompt_is_given(struct cp_plan p, struct cp_batch b, int s) {
    int at = 0;
    /@ loop invariant i: 0 <= i <= b.n_items;
       loop invariant at: at == descriptors(b, i);
       loop invariant given: given(p, s, descriptors(b, i)) == shared_at(b, s, i);
       loop invariant next: \forall integer d; 0 <= d < descriptors(b, i) ==>
         runs_serves(p, d, s) ==> runs_comes_next(p, d, s);
       loop assigns i, at; loop variant b.n_items - i; @/
    for (int i = 0; i < b.n_items; i++) {
      if (b.item[i].n_runs > 0 && b.item[i].n_users >= 2) {
        item_is_given(p, b, s, i, at);
        at += b.item[i].n_runs;
      }
    }
    /@ assert sequence: sequence_of_prompt(p, b, s); @/
  }
*/

/* ---- BATCH-9 ---- */

/*@ ghost
  /@ requires ok: batch_ok(b) && plan_of_batch(p, b);
     assigns \nothing;
     ensures ok: runs_ok(p); @/
  void batch_plan_is_ok(struct cp_plan p, struct cp_batch b) {
    lists_are_bound(b, b.n_items);
    /@ assert sizes: runs_sizes(p); @/
    /@ loop invariant s: 0 <= s <= b.n_prompts;
       loop invariant lists: runs_lists(p, s);
       loop invariant given: runs_all_given(p, s);
       loop invariant next: \forall integer d, r; 0 <= d < p.n_shared ==> 0 <= r < s ==>
         runs_serves(p, d, r) ==> runs_comes_next(p, d, r);
       loop assigns s; loop variant b.n_prompts - s; @/
    for (int s = 0; s < b.n_prompts; s++) {
      /@ assert sequence: sequence_of_prompt(p, b, s) && length_of_prompt(p, b, s); @/
      prompt_is_runs(p, b, s);
      prompt_is_given(p, b, s);
    }
    /@ loop invariant i: 0 <= i <= b.n_items;
       loop invariant served: runs_all_served(p, descriptors(b, i));
       loop assigns i; loop variant b.n_items - i; @/
    for (int i = 0; i < b.n_items; i++) {
      if (b.item[i].n_runs > 0 && b.item[i].n_users >= 2) {
        list_serves(p, b, i);
      }
    }
    /@ assert served: runs_all_served(p, p.n_shared); @/
    /@ assert serves: \forall integer d, at; 0 <= d < p.n_shared ==>
         p.shared[d].begin <= at < p.shared[d].end ==> runs_serves(p, d, p.served[at]); @/
    /@ assert next: runs_come_next(p, p.n_shared); @/
  }
*/

#endif
