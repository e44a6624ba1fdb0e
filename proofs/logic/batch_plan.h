/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH-9: the plan of a batch, and how many entries, descriptors and runs it has. Provers alone
 * read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_PLAN_H
#define CHUNKPROOF_LOGIC_BATCH_PLAN_H

#include "proofs/logic/batch_put.h"

/*@
  // The runs of item i are shared; and one of the first m items of prompt p is i.
  predicate item_shared(struct cp_batch b, integer i) =
    0 < b.item[i].n_runs && 2 <= b.item[i].n_users;
  predicate shared_with(struct cp_batch b, integer p, integer m, integer i) =
    item_shared(b, i) && items_have(b, p, m, i);

  // What is counted, by `what`: 0 items, 1 their runs, 2 the tokens of these.
  logic integer item_size(struct cp_batch b, integer i, integer what) =
    what == 0 ? 1 : what == 1 ? owner_runs(b, i) : owner_sum(b, i, owner_runs(b, i));
  // Of the shared items below n that are among the first m items of prompt p.
  axiomatic SharedPart {
    logic integer shared_part(struct cp_batch b, integer p, integer m, integer n, integer what);
    axiom shared_part_0: \forall struct cp_batch b, integer p, m, what;
      shared_part(b, p, m, 0, what) == 0;
    axiom shared_part_yes: \forall struct cp_batch b, integer p, m, n, what; 0 <= n ==>
      shared_with(b, p, m, n) ==>
      shared_part(b, p, m, n + 1, what) == shared_part(b, p, m, n, what) + item_size(b, n, what);
    axiom shared_part_no: \forall struct cp_batch b, integer p, m, n, what; 0 <= n ==>
      !shared_with(b, p, m, n) ==>
      shared_part(b, p, m, n + 1, what) == shared_part(b, p, m, n, what);
  }
  // Of those of its first n items that are not shared.
  axiomatic AlonePart {
    logic integer alone_part(struct cp_batch b, integer p, integer n, integer what);
    axiom alone_part_0: \forall struct cp_batch b, integer p, what; alone_part(b, p, 0, what) == 0;
    axiom alone_part_yes: \forall struct cp_batch b, integer p, n, what; 0 <= n ==>
      !item_shared(b, prompt_item(b, p, n)) ==> alone_part(b, p, n + 1, what) ==
        alone_part(b, p, n, what) + item_size(b, prompt_item(b, p, n), what);
    axiom alone_part_no: \forall struct cp_batch b, integer p, n, what; 0 <= n ==>
      item_shared(b, prompt_item(b, p, n)) ==>
      alone_part(b, p, n + 1, what) == alone_part(b, p, n, what);
  }
  // The descriptors of the first n items; and the entries of their lists for the first q prompts.
  axiomatic Descriptors {
    logic integer descriptors(struct cp_batch b, integer n);
    axiom descriptors_0: \forall struct cp_batch b; descriptors(b, 0) == 0;
    axiom descriptors_yes: \forall struct cp_batch b, integer n; 0 <= n ==> item_shared(b, n) ==>
      descriptors(b, n + 1) == descriptors(b, n) + owner_runs(b, n);
    axiom descriptors_no: \forall struct cp_batch b, integer n; 0 <= n ==> !item_shared(b, n) ==>
      descriptors(b, n + 1) == descriptors(b, n);
  }
  axiomatic Entries {
    logic integer entries(struct cp_batch b, integer n, integer q);
    axiom entries_0: \forall struct cp_batch b, integer n; entries(b, n, 0) == 0;
    axiom entries_next: \forall struct cp_batch b, integer n, q; 0 <= q ==>
      entries(b, n, q + 1) == entries(b, n, q) + shared_part(b, q, b.prompt[q].n_items, n, 0);
  }

  // Where the runs of prompt p begin in its list: those of the shared item n, those of its item n,
  // when it is not shared, and its own.
  logic integer shared_at(struct cp_batch b, integer p, integer n) =
    shared_part(b, p, b.prompt[p].n_items, n, 1);
  logic integer alone_at(struct cp_batch b, integer p, integer n) =
    shared_at(b, p, b.n_items) + alone_part(b, p, n, 1);
  logic integer own_at(struct cp_batch b, integer p) = alone_at(b, p, b.prompt[p].n_items);
  // Where the list of item n begins.
  logic integer list_at(struct cp_batch b, integer n) = entries(b, n, b.n_prompts);

  // The list of item i has those of the first q prompts that have it, by rising number.
  predicate list_is_users(struct cp_plan p, struct cp_batch b, integer i, integer q) =
    \forall integer at; list_at(b, i) <= at < list_at(b, i) + users(b, i, q) ==>
      0 <= p.served[at] < q && prompt_has_item(b, p.served[at], i);
  predicate list_ascends(struct cp_plan p, struct cp_batch b, integer i, integer q) =
    \forall integer at, by; list_at(b, i) <= at < by < list_at(b, i) + users(b, i, q) ==>
      p.served[at] < p.served[by];
  predicate list_is_whole(struct cp_plan p, struct cp_batch b, integer i, integer q) =
    \forall integer s; 0 <= s < q ==> prompt_has_item(b, s, i) ==>
      p.served[list_at(b, i) + users(b, i, s)] == s;
  predicate list_to(struct cp_plan p, struct cp_batch b, integer i, integer q) =
    list_is_users(p, b, i, q) && list_ascends(p, b, i, q) && list_is_whole(p, b, i, q);
  predicate lists_to(struct cp_plan p, struct cp_batch b, integer n) =
    \forall integer i; 0 <= i < n ==> item_shared(b, i) ==> list_to(p, b, i, b.n_prompts);

  // Descriptor d is that of run k of item i; and the first n runs of it have theirs.
  predicate describes(struct cp_plan p, integer d, struct cp_batch b, integer i, integer k) =
    p.shared[d].chunk == owner_chunk(b, i, k) && p.shared[d].begin == list_at(b, i) &&
    p.shared[d].end == list_at(b, i + 1) && p.shared[d].n_tokens == owner_tokens(b, i, k) &&
    p.shared[d].position == owner_position(b, i, k);
  predicate item_described(struct cp_plan p, struct cp_batch b, integer i, integer n) =
    \forall integer d; descriptors(b, i) <= d < descriptors(b, i) + n ==>
      describes(p, d, b, i, d - descriptors(b, i));
  predicate described_to(struct cp_plan p, struct cp_batch b, integer n) =
    \forall integer i; 0 <= i < n ==> item_shared(b, i) ==>
      item_described(p, b, i, owner_runs(b, i));

  // Runs of sequence s, from run `from` on, are those of owner o: chunks, positions; and tokens, of
  // the first n.
  predicate places_of(struct cp_plan p, integer s, integer from, struct cp_batch b, integer o) =
    \forall integer k; from <= k < from + owner_runs(b, o) ==>
      plan_chunk(p, s, k) == owner_chunk(b, o, k - from) &&
      plan_position(p, s, k) == owner_position(b, o, k - from);
  predicate tokens_of(struct cp_plan p, integer s, integer from, struct cp_batch b, integer o,
                      integer n) =
    \forall integer k; from <= k < from + n ==>
      plan_tokens(p, s, k) == owner_tokens(b, o, k - from);
  predicate runs_of(struct cp_plan p, integer s, integer from, struct cp_batch b, integer o) =
    places_of(p, s, from, b, o) && tokens_of(p, s, from, b, o, owner_runs(b, o));

  // Sequence s has the runs of those shared items below n that its prompt has; and those of the
  // others of its first n items, behind all shared ones.
  predicate shares_to(struct cp_plan p, struct cp_batch b, integer s, integer n) =
    \forall integer i; 0 <= i < n ==> shared_with(b, s, b.prompt[s].n_items, i) ==>
      runs_of(p, s, shared_at(b, s, i), b, i);
  predicate alone_to(struct cp_plan p, struct cp_batch b, integer s, integer n) =
    \forall integer i; 0 <= i < n ==> !item_shared(b, prompt_item(b, s, i)) ==>
      runs_of(p, s, alone_at(b, s, i), b, prompt_item(b, s, i));
  predicate own_but_last(struct cp_plan p, struct cp_batch b, integer s) =
    places_of(p, s, own_at(b, s), b, -1 - s) &&
    tokens_of(p, s, own_at(b, s), b, -1 - s, b.prompt[s].n_own - 1);

  // BATCH-9: sequence s is prompt s, but for lengths; and with them.
  predicate sequence_of_prompt(struct cp_plan p, struct cp_batch b, integer s) =
    p.sequence[s].n_shared == shared_at(b, s, b.n_items) &&
    p.sequence[s].n_chunks == own_at(b, s) + b.prompt[s].n_own &&
    shares_to(p, b, s, b.n_items) && alone_to(p, b, s, b.prompt[s].n_items) &&
    own_but_last(p, b, s);
  predicate length_of_prompt(struct cp_plan p, struct cp_batch b, integer s) =
    p.sequence[s].n_tokens == b.prompt[s].n_tokens && (0 < b.prompt[s].n_own ==>
      plan_tokens(p, s, p.sequence[s].n_chunks - 1) ==
        owner_tokens(b, -1 - s, b.prompt[s].n_own - 1));
  predicate sequences_of(struct cp_plan p, struct cp_batch b, integer n) =
    \forall integer s; 0 <= s < n ==> sequence_of_prompt(p, b, s);
  predicate lengths_of(struct cp_plan p, struct cp_batch b, integer n) =
    \forall integer s; 0 <= s < n ==> length_of_prompt(p, b, s);

  // BATCH-9: the plan of the batch, but for lengths and stamp; and all of it.
  predicate plan_sizes_of_batch(struct cp_plan p, struct cp_batch b) =
    p.capacity == b.pool.capacity && p.chunk_size == b.chunk_size &&
    p.n_sequences == b.n_prompts;
  predicate plan_paths_of_batch(struct cp_plan p, struct cp_batch b) =
    plan_sizes_of_batch(p, b) && p.n_served == list_at(b, b.n_items) &&
    p.n_shared == descriptors(b, b.n_items) && 0 <= p.n_shared <= p.capacity &&
    lists_to(p, b, b.n_items) && described_to(p, b, b.n_items) &&
    sequences_of(p, b, b.n_prompts);
  predicate plan_of_batch(struct cp_plan p, struct cp_batch b) =
    plan_paths_of_batch(p, b) && lengths_of(p, b, b.n_prompts) && same_stamp(p.stamp, b.stamp);
*/

#endif
