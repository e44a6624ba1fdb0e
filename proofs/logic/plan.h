/* SPDX-License-Identifier: Apache-2.0 */
/* The clauses of spec/plan.md as predicates over a struct cp_plan. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_PLAN_H
#define CHUNKPROOF_LOGIC_PLAN_H

#include "chunkproof/plan.h"

/*@
  // The position of the first key of the k-th chunk of a path, and the other way round.
  axiomatic KeyAt {
    logic integer key_at(integer k, integer c);
    axiom key_at_is: \forall integer k, c; key_at(k, c) == k * c;
    logic integer depth_at(integer position, integer c);
    axiom depth_at_is: \forall integer position, c; 0 < c ==>
      depth_at(position, c) == position / c;
    lemma key_at_first: \forall integer c; key_at(0, c) == 0;
    lemma key_at_next: \forall integer k, c; key_at(k + 1, c) == key_at(k, c) + c;
    lemma key_at_positive: \forall integer k, c; 0 <= k ==> 0 < c ==> 0 <= key_at(k, c);
    lemma key_at_ordered: \forall integer j, k, c; 0 <= j < k ==> 0 < c ==>
      key_at(j, c) + c + key_at(k - j - 1, c) == key_at(k, c);
    lemma depth_of_key: \forall integer k, c; 0 <= k ==> 0 < c ==> depth_at(key_at(k, c), c) == k;
  }

  // The k-th chunk of sequence s, how many keys it holds, and where the first one stands; and how
  // deep the chunk of descriptor i is.
  logic integer plan_chunk(struct cp_plan p, integer s, integer k) = p.sequence[s].run[k].chunk;
  logic integer plan_tokens(struct cp_plan p, integer s, integer k) = p.sequence[s].run[k].n_tokens;
  logic integer plan_position(struct cp_plan p, integer s, integer k) =
    p.sequence[s].run[k].position;
  logic integer plan_depth(struct cp_plan p, integer i) =
    depth_at(p.shared[i].position, p.chunk_size);

  // Sizes are within their bounds.
  predicate plan_sizes(struct cp_plan p) =
    1 <= p.chunk_size <= CP_MAX_CHUNK_SIZE && 1 <= p.capacity <= CP_MAX_CHUNKS &&
    0 <= p.n_sequences <= CP_MAX_SEQUENCES && 0 <= p.n_shared <= p.capacity;

  // PLAN-1: the list of those whom descriptors serve is 0, 1, ..., b - 1.
  predicate plan_list(struct cp_plan p) =
    p.n_served == p.n_sequences &&
    (\forall integer at; 0 <= at < p.n_served ==> p.served[at] == at);

  // PLAN-2: a sequence has a path, the shared chunks first.
  predicate plan_path(struct cp_plan p, integer s) =
    0 <= p.sequence[s].n_shared <= p.sequence[s].n_chunks <= CP_MAX_DEPTH &&
    (\forall integer k; 0 <= k < p.sequence[s].n_chunks ==> 0 <= plan_chunk(p, s, k) < p.capacity);

  // PLAN-7: all its chunks but the last are full, and all shared ones; run k says so.
  predicate plan_run(struct cp_plan p, integer s, integer k) =
    plan_position(p, s, k) == key_at(k, p.chunk_size) &&
    (k + 1 < p.sequence[s].n_chunks ==> plan_tokens(p, s, k) == p.chunk_size) &&
    (k + 1 == p.sequence[s].n_chunks ==>
      plan_tokens(p, s, k) == p.sequence[s].n_tokens - key_at(k, p.chunk_size));

  predicate plan_length(struct cp_plan p, integer s) =
    0 <= p.sequence[s].n_tokens <= key_at(p.sequence[s].n_chunks, p.chunk_size) &&
    key_at(p.sequence[s].n_chunks - 1, p.chunk_size) < p.sequence[s].n_tokens &&
    key_at(p.sequence[s].n_shared, p.chunk_size) <= p.sequence[s].n_tokens &&
    (\forall integer k; 0 <= k < p.sequence[s].n_chunks ==> plan_run(p, s, k));

  predicate plan_sequences(struct cp_plan p) =
    \forall integer s; 0 <= s < p.n_sequences ==> plan_path(p, s) && plan_length(p, s);

  // PLAN-1: a descriptor serves two sequences or more, and its chunk is full.
  predicate plan_descriptor(struct cp_plan p, integer i) =
    0 <= p.shared[i].chunk < p.capacity &&
    0 <= p.shared[i].begin <= p.shared[i].end - 2 && p.shared[i].end <= p.n_sequences &&
    p.shared[i].n_tokens == p.chunk_size && 0 <= plan_depth(p, i) < CP_MAX_DEPTH &&
    p.shared[i].position == key_at(plan_depth(p, i), p.chunk_size);

  predicate plan_descriptors(struct cp_plan p, integer n) =
    \forall integer i; 0 <= i < n ==> plan_descriptor(p, i);

  // Descriptor i serves sequence s: its range is one of the list.
  predicate plan_serves(struct cp_plan p, integer i, integer s) =
    p.shared[i].begin <= s < p.shared[i].end;

  // PLAN-3: what the ranges of the first n descriptors contain is in the shared parts of paths, ...
  predicate plan_on_path(struct cp_plan p, integer i, integer s) =
    plan_depth(p, i) < p.sequence[s].n_shared &&
    plan_chunk(p, s, plan_depth(p, i)) == p.shared[i].chunk;

  predicate plan_on_paths(struct cp_plan p, integer n) =
    \forall integer i, s; 0 <= i < n ==> plan_serves(p, i, s) ==> plan_on_path(p, i, s);

  // ... no pair is in two of them, ...
  predicate plan_disjoint(struct cp_plan p, integer n) =
    \forall integer i, j; 0 <= i < j < n ==> plan_depth(p, i) == plan_depth(p, j) ==>
      p.shared[i].end <= p.shared[j].begin;

  // ... and each chunk in the shared parts of the first n paths comes from one of them.
  predicate plan_covered(struct cp_plan p, integer s, integer k) =
    \exists integer i; 0 <= i < p.n_shared && plan_serves(p, i, s) && plan_depth(p, i) == k;

  predicate plan_covers(struct cp_plan p, integer n) =
    \forall integer s, k; 0 <= s < n ==> 0 <= k < p.sequence[s].n_shared ==> plan_covered(p, s, k);

  // PLAN-4: descriptor i comes before j: by first sequence, then from the root down.
  predicate plan_before(struct cp_plan p, integer i, integer j) =
    p.shared[i].begin < p.shared[j].begin ||
    (p.shared[i].begin == p.shared[j].begin && p.shared[i].position < p.shared[j].position);

  predicate plan_sorted(struct cp_plan p, integer n) =
    \forall integer i, j; 0 <= i < j < n ==> plan_before(p, i, j);

  // A valid plan: what the phases rely on.
  predicate plan_ok(struct cp_plan p) =
    plan_sizes(p) && plan_list(p) && plan_sequences(p) && plan_descriptors(p, p.n_shared) &&
    plan_sorted(p, p.n_shared) && plan_on_paths(p, p.n_shared) &&
    plan_disjoint(p, p.n_shared) && plan_covers(p, p.n_sequences);

  // Chunk x serves two sequences or more.
  predicate tree_shared(struct cp_tree t, integer x) =
    pool_used(t.pool, x) && t.begin[x] + 2 <= t.end[x];

  // PLAN-1: descriptor i is that of a shared chunk; every one is among the first n.
  predicate plan_describes(struct cp_plan p, struct cp_tree t, integer i) =
    tree_shared(t, p.shared[i].chunk) &&
    p.shared[i].begin == t.begin[p.shared[i].chunk] &&
    p.shared[i].end == t.end[p.shared[i].chunk] &&
    p.shared[i].n_tokens == t.chunk_size &&
    p.shared[i].position == key_at(t.depth[p.shared[i].chunk], t.chunk_size);

  predicate plan_lists(struct cp_plan p, integer n, integer x) =
    \exists integer i; 0 <= i < n && p.shared[i].chunk == x;

  // PLAN-2: the path is that of sequence s; PLAN-7: its chunks but the last are full.
  predicate plan_sequence_of(struct cp_plan p, struct cp_tree t, integer s) =
    p.sequence[s].n_chunks == tree_depth(t, s) &&
    0 <= p.sequence[s].n_shared <= p.sequence[s].n_chunks &&
    (\forall integer k; 0 <= k < tree_depth(t, s) ==> plan_chunk(p, s, k) == tree_chunk(t, s, k)) &&
    (\forall integer k; 0 <= k < tree_depth(t, s) ==>
      plan_position(p, s, k) == key_at(k, t.chunk_size)) &&
    (\forall integer k; 0 <= k < tree_depth(t, s) - 1 ==> plan_tokens(p, s, k) == t.chunk_size) &&
    (\forall integer k; 0 <= k < tree_depth(t, s) ==>
      (k < p.sequence[s].n_shared <==> tree_shared(t, tree_chunk(t, s, k))));

  // PLAN-7: and as long.
  predicate plan_length_of(struct cp_plan p, struct cp_tree t, integer s) =
    p.sequence[s].n_tokens == tree_length(t, s) &&
    (0 < tree_depth(t, s) ==> plan_tokens(p, s, tree_depth(t, s) - 1) == tree_last_fill(t, s));
  predicate plan_lengths_of(struct cp_plan p, struct cp_tree t) =
    \forall integer s; 0 <= s < t.n_sequences ==> plan_length_of(p, t, s);

  // PLAN-1, PLAN-2, PLAN-4: the tree's plan but for lengths and stamp. There is one such plan.
  predicate plan_paths_of(struct cp_plan p, struct cp_tree t) =
    p.capacity == t.pool.capacity && p.chunk_size == t.chunk_size &&
    p.n_sequences == t.n_sequences && 0 <= p.n_shared <= p.capacity && plan_list(p) &&
    (\forall integer s; 0 <= s < t.n_sequences ==> plan_sequence_of(p, t, s)) &&
    (\forall integer i; 0 <= i < p.n_shared ==> plan_describes(p, t, i)) &&
    (\forall integer x; tree_shared(t, x) ==> plan_lists(p, p.n_shared, x)) &&
    plan_sorted(p, p.n_shared);

  // The stamps are equal.
  predicate same_stamp(struct cp_stamp a, struct cp_stamp b) =
    a.tree == b.tree && a.epoch == b.epoch && a.step == b.step;

  // PLAN-5: between two such stamps no path and no range has changed.
  predicate same_epoch(struct cp_stamp a, struct cp_stamp b) =
    a.tree == b.tree && a.epoch == b.epoch;

  // PLAN-1 to PLAN-5, PLAN-7: the tree's plan.
  predicate plan_of(struct cp_plan p, struct cp_tree t) =
    plan_paths_of(p, t) && plan_lengths_of(p, t) && same_stamp(p.stamp, t.stamp);

  // PLAN-6: all but the stamp and the lengths is as it was.
  predicate plan_refreshed(struct cp_plan a, struct cp_plan b) =
    b.capacity == a.capacity && b.chunk_size == a.chunk_size && b.n_sequences == a.n_sequences &&
    b.n_shared == a.n_shared && b.n_served == a.n_served &&
    (\forall integer at; 0 <= at < CP_MAX_SERVED ==> b.served[at] == a.served[at]) &&
    (\forall integer i; 0 <= i < CP_MAX_CHUNKS ==> b.shared[i] == a.shared[i]) &&
    (\forall integer s, k; 0 <= s < CP_MAX_SEQUENCES ==> 0 <= k < CP_MAX_DEPTH ==>
      plan_chunk(b, s, k) == plan_chunk(a, s, k) &&
      plan_position(b, s, k) == plan_position(a, s, k) &&
      (k != a.sequence[s].n_chunks - 1 ==> plan_tokens(b, s, k) == plan_tokens(a, s, k))) &&
    (\forall integer s; 0 <= s < CP_MAX_SEQUENCES ==>
      b.sequence[s].n_chunks == a.sequence[s].n_chunks &&
      b.sequence[s].n_shared == a.sequence[s].n_shared);
*/

#endif
