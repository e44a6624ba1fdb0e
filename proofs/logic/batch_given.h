/* SPDX-License-Identifier: Apache-2.0 */
/* What the loops of ref/batch_plan.c have done so far, and what stays so when they go on. Each
 * ghost function is a lemma: its contract is the statement, its body the proof; a loop is an
 * induction. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_GIVEN_H
#define CHUNKPROOF_LOGIC_BATCH_GIVEN_H

#include "proofs/logic/batch_fit.h"
#include "proofs/logic/plan_build.h"

/*@
  // The first n runs of sequence s are as they were; so are the first n entries; and descriptors.
  predicate runs_as_before(struct cp_plan a, struct cp_plan b, integer s, integer n) =
    \forall integer k; 0 <= k < n ==> b.sequence[s].run[k] == a.sequence[s].run[k];
  predicate entries_as_before(struct cp_plan a, struct cp_plan b, integer n) =
    \forall integer at; 0 <= at < n ==> b.served[at] == a.served[at];
  predicate descriptors_as_before(struct cp_plan a, struct cp_plan b, integer n) =
    \forall integer d; 0 <= d < n ==> b.shared[d] == a.shared[d];
  // And the sequences but s.
  predicate others_as_before(struct cp_plan a, struct cp_plan b, integer s) =
    \forall integer r; 0 <= r < CP_MAX_SEQUENCES ==> r != s ==> b.sequence[r] == a.sequence[r];

  // Sequence s has the shared runs of its prompt as far as they are of items below n; those before
  // t, and from s on, have.
  predicate sequence_shares(struct cp_plan p, struct cp_batch b, integer s, integer n) =
    p.sequence[s].n_tokens == b.prompt[s].n_tokens &&
    p.sequence[s].n_chunks == shared_at(b, s, n) && p.sequence[s].n_shared == shared_at(b, s, n) &&
    shares_to(p, b, s, n);
  predicate sequences_share(struct cp_plan p, struct cp_batch b, integer s, integer t,
                            integer n) =
    \forall integer r; s <= r < t ==> sequence_shares(p, b, r, n);

  // The descriptors are of chunks of items below i, or of item i and of a run below k, ...
  predicate chunk_before(struct cp_batch b, integer x, integer i, integer k) =
    0 <= x < b.pool.capacity &&
    (b.owner[x].owner < i || (b.owner[x].owner == i && b.owner[x].run < k));
  predicate chunks_before(struct cp_plan p, struct cp_batch b, integer i, integer k) =
    \forall integer d; 0 <= d < p.n_shared ==> chunk_before(b, p.shared[d].chunk, i, k);
  // ... and no two of one.
  predicate chunks_differ(struct cp_plan p) =
    \forall integer d, e; 0 <= d < e < p.n_shared ==> p.shared[d].chunk != p.shared[e].chunk;

  // PLAN-6: of sequence s only lengths are other than in a: its own, and that of its last own run.
  predicate prompt_refreshed(struct cp_plan a, struct cp_plan p, struct cp_batch b, integer s) =
    p.sequence[s].n_chunks == a.sequence[s].n_chunks &&
    p.sequence[s].n_shared == a.sequence[s].n_shared &&
    (\forall integer k; 0 <= k < CP_MAX_DEPTH ==> plan_chunk(p, s, k) == plan_chunk(a, s, k) &&
      plan_position(p, s, k) == plan_position(a, s, k)) &&
    (\forall integer k; 0 <= k < CP_MAX_DEPTH ==>
      k != a.sequence[s].n_chunks - 1 || b.prompt[s].n_own <= 0 ==>
      plan_tokens(p, s, k) == plan_tokens(a, s, k));
  predicate prompts_refreshed(struct cp_plan a, struct cp_plan p, struct cp_batch b) =
    \forall integer s; 0 <= s < CP_MAX_SEQUENCES ==> prompt_refreshed(a, p, b, s);

  // The plan has all of the items below n.
  predicate items_planned(struct cp_plan p, struct cp_batch b, integer n) =
    p.n_served == list_at(b, n) && p.n_shared == descriptors(b, n) &&
    0 <= p.n_shared <= p.capacity && chunks_before(p, b, n, 0) && chunks_differ(p);
*/

/*@ ghost
  /@ requires s: 0 <= s;
     requires has: prompt_has_item(b, s, item);
     requires list: list_to(a, b, item, s);
     requires before: entries_as_before(a, p, list_at(b, item) + users(b, item, s));
     requires room: 0 <= list_at(b, item);
     requires entry: p.served[list_at(b, item) + users(b, item, s)] == s;
     assigns \nothing;
     ensures list: list_to(p, b, item, s + 1); @/
  void one_entry_more(struct cp_plan a, struct cp_plan p, struct cp_batch b, int item, int s) {
    users_are_in_order(b, item, s);
    /@ assert next: users(b, item, s + 1) == users(b, item, s) + 1; @/
    /@ assert had: \forall integer at; list_at(b, item) <= at < list_at(b, item) + users(b, item, s)
         ==> p.served[at] == a.served[at]; @/
    /@ assert users: list_is_users(p, b, item, s + 1); @/
    /@ assert rise: \forall integer at, by; list_at(b, item) <= at < by <
         list_at(b, item) + users(b, item, s) ==> p.served[at] < p.served[by]; @/
    /@ assert below: \forall integer at; list_at(b, item) <= at <
         list_at(b, item) + users(b, item, s) ==> p.served[at] < s; @/
    /@ assert all: \forall integer at, by; list_at(b, item) <= at < by <=
         list_at(b, item) + users(b, item, s) ==> p.served[at] < p.served[by]; @/
    /@ assert rises: list_ascends(p, b, item, s + 1); @/
    /@ assert place: \forall integer r; 0 <= r < s ==> prompt_has_item(b, r, item) ==>
         p.served[list_at(b, item) + users(b, item, r)] == r; @/
  }

  /@ requires others: others_as_before(a, p, s) && (s < from || to <= s);
     requires range: 0 <= from && to <= CP_MAX_SEQUENCES;
     requires share: sequences_share(a, b, from, to, n);
     assigns \nothing;
     ensures share: sequences_share(p, b, from, to, n); @/
  void others_share_still(struct cp_plan a, struct cp_plan p, struct cp_batch b, int s, int from,
                          int to, int n) {
    /@ loop invariant r: from <= r && (from <= to ==> r <= to);
       loop invariant share: sequences_share(p, b, from, r, n);
       loop assigns r; loop variant to - r; @/
    for (int r = from; r < to; r++) {
      /@ assert share: sequence_shares(a, b, r, n); @/
      /@ assert same: p.sequence[r] == a.sequence[r]; @/
      /@ assert run: \forall integer k; plan_chunk(p, r, k) == plan_chunk(a, r, k) &&
           plan_tokens(p, r, k) == plan_tokens(a, r, k) &&
           plan_position(p, r, k) == plan_position(a, r, k); @/
      /@ assert still: \forall integer x, o; runs_of(a, r, x, b, o) ==> runs_of(p, r, x, b, o); @/
      /@ assert now: sequence_shares(p, b, r, n); @/
    }
  }

  /@ requires n: 0 <= n;
     requires shares: sequence_shares(p, b, r, n);
     assigns \nothing;
     ensures shares: !shared_with(b, r, b.prompt[r].n_items, n) ==>
       sequence_shares(p, b, r, n + 1); @/
  void no_shared_more(struct cp_plan p, struct cp_batch b, int r, int n) {
  }

  /@ requires n: 0 <= n && 0 <= r < b.n_prompts;
     requires order: shared_in_order(b, r, n);
     requires shares: sequence_shares(a, b, r, n) && shared_with(b, r, b.prompt[r].n_items, n);
     requires before: runs_as_before(a, p, r, shared_at(b, r, n));
     requires runs: runs_of(p, r, shared_at(b, r, n), b, n);
     requires count: p.sequence[r].n_chunks == shared_at(b, r, n) + owner_runs(b, n) &&
       p.sequence[r].n_shared == p.sequence[r].n_chunks;
     requires tokens: p.sequence[r].n_tokens == a.sequence[r].n_tokens;
     assigns \nothing;
     ensures shares: sequence_shares(p, b, r, n + 1); @/
  void one_shared_more(struct cp_plan a, struct cp_plan p, struct cp_batch b, int r, int n) {
    /@ assert had: \forall integer i; 0 <= i < n ==> shared_with(b, r, b.prompt[r].n_items, i) ==>
         runs_of(p, r, shared_at(b, r, i), b, i); @/
  }

  /@ requires ok: batch_ok(b) && 0 <= n < b.n_items && item_shared(b, n);
     requires had: lists_to(a, b, n) && described_to(a, b, n);
     requires entries: entries_as_before(a, p, list_at(b, n));
     requires descriptors: descriptors_as_before(a, p, descriptors(b, n));
     requires list: list_to(p, b, n, b.n_prompts);
     requires described: item_described(p, b, n, owner_runs(b, n));
     assigns \nothing;
     ensures lists: lists_to(p, b, n + 1);
     ensures described: described_to(p, b, n + 1); @/
  void one_item_planned(struct cp_plan a, struct cp_plan p, struct cp_batch b, int n) {
    lists_are_in_order(b, n);
    descriptors_are_in_order(b, n);
    /@ loop invariant i: 0 <= i <= n;
       loop invariant lists: lists_to(p, b, i);
       loop invariant described: described_to(p, b, i);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      users_are_in_order(b, i, b.n_prompts);
      /@ assert entries: item_shared(b, i) ==> \forall integer at; list_at(b, i) <= at <
           list_at(b, i) + users(b, i, b.n_prompts) ==> p.served[at] == a.served[at]; @/
      /@ assert list: item_shared(b, i) ==> list_to(a, b, i, b.n_prompts); @/
      /@ assert users: item_shared(b, i) ==> list_is_users(p, b, i, b.n_prompts); @/
      /@ assert rises: item_shared(b, i) ==> list_ascends(p, b, i, b.n_prompts); @/
      /@ assert whole: item_shared(b, i) ==> list_is_whole(p, b, i, b.n_prompts); @/
      /@ assert same: item_shared(b, i) ==> \forall integer d; descriptors(b, i) <= d <
           descriptors(b, i) + owner_runs(b, i) ==> p.shared[d] == a.shared[d]; @/
      /@ assert described: item_shared(b, i) ==> item_described(p, b, i, owner_runs(b, i)); @/
    }
  }

  /@ requires sizes: batch_sizes(b) && 0 <= n < b.n_items && !item_shared(b, n);
     requires had: items_planned(p, b, n);
     requires share: sequences_share(p, b, 0, b.n_prompts, n);
     assigns \nothing;
     ensures planned: items_planned(p, b, n + 1);
     ensures share: sequences_share(p, b, 0, b.n_prompts, n + 1); @/
  void one_item_passed(struct cp_plan p, struct cp_batch b, int n) {
    one_list_more(b, n);
    /@ loop invariant s: 0 <= s <= b.n_prompts;
       loop invariant share: sequences_share(p, b, 0, s, n + 1);
       loop assigns s; loop variant b.n_prompts - s; @/
    for (int s = 0; s < b.n_prompts; s++) {
      no_shared_more(p, b, s, n);
    }
  }
*/

/* What is so of a sequence stays so when another one changes. */
/*@ ghost
  /@ requires others: others_as_before(a, p, s) && 0 <= n <= s < CP_MAX_SEQUENCES;
     requires had: sequences_of(a, b, n) && lengths_of(a, b, n);
     assigns \nothing;
     ensures sequences: sequences_of(p, b, n);
     ensures lengths: lengths_of(p, b, n); @/
  void prompts_stay(struct cp_plan a, struct cp_plan p, struct cp_batch b, int s, int n) {
    /@ loop invariant r: 0 <= r <= n;
       loop invariant sequences: sequences_of(p, b, r);
       loop invariant lengths: lengths_of(p, b, r);
       loop assigns r; loop variant n - r; @/
    for (int r = 0; r < n; r++) {
      /@ assert had: sequence_of_prompt(a, b, r) && length_of_prompt(a, b, r); @/
      /@ assert same: p.sequence[r] == a.sequence[r]; @/
      /@ assert run: \forall integer k; plan_chunk(p, r, k) == plan_chunk(a, r, k) &&
           plan_tokens(p, r, k) == plan_tokens(a, r, k) &&
           plan_position(p, r, k) == plan_position(a, r, k); @/
      /@ assert places: \forall integer x, o; places_of(a, r, x, b, o) ==>
           places_of(p, r, x, b, o); @/
      /@ assert tokens: \forall integer x, o, m; tokens_of(a, r, x, b, o, m) ==>
           tokens_of(p, r, x, b, o, m); @/
      /@ assert shares: shares_to(p, b, r, b.n_items); @/
      /@ assert alone: alone_to(p, b, r, b.prompt[r].n_items); @/
      /@ assert own: own_but_last(p, b, r); @/
    }
  }
*/

/*@ ghost
  /@ requires entries: \forall integer at; p.served[at] == a.served[at];
     requires descriptors: \forall integer d; p.shared[d] == a.shared[d];
     requires had: lists_to(a, b, n) && described_to(a, b, n);
     assigns \nothing;
     ensures lists: lists_to(p, b, n);
     ensures described: described_to(p, b, n); @/
  void lists_stay(struct cp_plan a, struct cp_plan p, struct cp_batch b, int n) {
    /@ assert list: \forall integer i, q; list_to(a, b, i, q) ==> list_to(p, b, i, q); @/
    /@ assert described: \forall integer i, m; item_described(a, b, i, m) ==>
         item_described(p, b, i, m); @/
  }
*/

/* A prompt's runs stay when others come behind them. */
/*@ ghost
  /@ requires before: runs_as_before(a, p, s, n);
     assigns \nothing;
     ensures stay: \forall integer from, o; 0 <= from ==> from + owner_runs(b, o) <= n ==>
       runs_of(a, s, from, b, o) ==> runs_of(p, s, from, b, o); @/
  void runs_stay(struct cp_plan a, struct cp_plan p, struct cp_batch b, int s, int n) {
    /@ assert run: \forall integer k; 0 <= k < n ==> plan_chunk(p, s, k) == plan_chunk(a, s, k) &&
         plan_tokens(p, s, k) == plan_tokens(a, s, k) &&
         plan_position(p, s, k) == plan_position(a, s, k); @/
    /@ assert places: \forall integer from, o; 0 <= from ==> from + owner_runs(b, o) <= n ==>
         places_of(a, s, from, b, o) ==> places_of(p, s, from, b, o); @/
    /@ assert tokens: \forall integer from, o, m; 0 <= from ==> from + m <= n ==>
         tokens_of(a, s, from, b, o, m) ==> tokens_of(p, s, from, b, o, m); @/
  }

  /@ requires ok: batch_ok(b) && 0 <= s < b.n_prompts;
     requires had: shares_to(a, b, s, b.n_items);
     requires before: runs_as_before(a, p, s, n) && shared_at(b, s, b.n_items) <= n;
     assigns \nothing;
     ensures stay: shares_to(p, b, s, b.n_items); @/
  void shared_stay(struct cp_plan a, struct cp_plan p, struct cp_batch b, int s, int n) {
    shared_are_in_order(b, s, b.n_items);
    runs_stay(a, p, b, s, n);
  }

  /@ requires ok: batch_ok(b) && 0 <= s < b.n_prompts && 0 <= m <= b.prompt[s].n_items;
     requires had: alone_to(a, b, s, m);
     requires before: runs_as_before(a, p, s, n) && alone_at(b, s, m) <= n;
     assigns \nothing;
     ensures stay: alone_to(p, b, s, m); @/
  void alone_stay(struct cp_plan a, struct cp_plan p, struct cp_batch b, int s, int m, int n) {
    shared_are_in_order(b, s, b.n_items);
    alone_are_in_order(b, s, m);
    runs_stay(a, p, b, s, n);
  }
*/

/* ---- A plan is refreshed ---- */

/*@ ghost
  /@ requires s: 0 <= s < CP_MAX_SEQUENCES;
     requires kept: prompts_refreshed(a, m, b) && prompt_refreshed(m, p, b, s);
     requires lengths: lengths_of(m, b, s) && length_of_prompt(p, b, s);
     requires others: others_as_before(m, p, s);
     assigns \nothing;
     ensures kept: prompts_refreshed(a, p, b);
     ensures lengths: lengths_of(p, b, s + 1); @/
  void one_refreshed_more(struct cp_plan a, struct cp_plan m, struct cp_plan p, struct cp_batch b,
                          int s) {
    /@ assert it: prompt_refreshed(a, p, b, s); @/
    /@ assert same: \forall integer r; 0 <= r < CP_MAX_SEQUENCES ==> r != s ==>
         p.sequence[r] == m.sequence[r]; @/
    /@ assert rest: \forall integer r; 0 <= r < CP_MAX_SEQUENCES ==> r != s ==>
         prompt_refreshed(a, p, b, r); @/
    /@ assert lengths: \forall integer r; 0 <= r < s ==> length_of_prompt(p, b, r); @/
  }

  /@ requires ok: batch_ok(b) && 0 <= s < b.n_prompts;
     requires had: sequence_of_prompt(a, b, s);
     requires kept: prompt_refreshed(a, p, b, s);
     assigns \nothing;
     ensures sequence: sequence_of_prompt(p, b, s); @/
  void prompt_is_refreshed(struct cp_plan a, struct cp_plan p, struct cp_batch b, int s) {
    own_fits(b, s);
    shared_are_in_order(b, s, b.n_items);
    alone_are_in_order(b, s, b.prompt[s].n_items);
    /@ assert places: \forall integer from, o; 0 <= from ==>
         from + owner_runs(b, o) <= CP_MAX_DEPTH ==>
         places_of(a, s, from, b, o) ==> places_of(p, s, from, b, o); @/
    /@ assert token: \forall integer k; 0 <= k < own_at(b, s) + b.prompt[s].n_own - 1 ==>
         plan_tokens(p, s, k) == plan_tokens(a, s, k); @/
    /@ assert item: \forall integer k; 0 <= k < own_at(b, s) ==>
         plan_tokens(p, s, k) == plan_tokens(a, s, k); @/
    /@ assert tokens: \forall integer from, o; 0 <= from ==>
         from + owner_runs(b, o) <= own_at(b, s) ==>
         tokens_of(a, s, from, b, o, owner_runs(b, o)) ==>
         tokens_of(p, s, from, b, o, owner_runs(b, o)); @/
    /@ assert shares: shares_to(p, b, s, b.n_items); @/
    /@ assert alone: alone_to(p, b, s, b.prompt[s].n_items); @/
    /@ assert own: own_but_last(p, b, s); @/
  }

  /@ requires ok: batch_ok(b) && plan_paths_of_batch(a, b);
     requires kept: prompts_refreshed(a, p, b) && lengths_of(p, b, b.n_prompts);
     requires sizes: p.capacity == a.capacity && p.chunk_size == a.chunk_size &&
       p.n_sequences == a.n_sequences && p.n_served == a.n_served && p.n_shared == a.n_shared;
     requires entries: \forall integer at; p.served[at] == a.served[at];
     requires descriptors: \forall integer d; p.shared[d] == a.shared[d];
     assigns \nothing;
     ensures paths: plan_paths_of_batch(p, b);
     ensures kept: plan_refreshed(a, p); @/
  void refreshed_is_plan(struct cp_plan a, struct cp_plan p, struct cp_batch b) {
    lists_stay(a, p, b, b.n_items);
    /@ loop invariant s: 0 <= s <= b.n_prompts;
       loop invariant sequences: sequences_of(p, b, s);
       loop assigns s; loop variant b.n_prompts - s; @/
    for (int s = 0; s < b.n_prompts; s++) {
      /@ assert had: sequence_of_prompt(a, b, s); @/
      prompt_is_refreshed(a, p, b, s);
    }
  }
*/

#endif
