/* SPDX-License-Identifier: Apache-2.0 */
/* For ref/plan.c: what its loops have done so far; and, as ghost code, why the shared chunks find
 * room in a plan, and why the plan of a valid tree is a valid plan (PLAN-3). Each ghost function is
 * a lemma: its contract is the statement, its body the proof; a loop is an induction. Provers alone
 * read this file. */
#ifndef CHUNKPROOF_LOGIC_PLAN_BUILD_H
#define CHUNKPROOF_LOGIC_PLAN_BUILD_H

#include "chunkproof/plan.h"

/*@
  // Sequence s has the first k chunks of its path; those that are shared come first.
  predicate sequence_begun(struct cp_plan p, struct cp_tree t, integer s, integer k) =
    p.sequence[s].n_chunks == tree_depth(t, s) && 0 <= p.sequence[s].n_shared <= k &&
    p.sequence[s].n_tokens == tree_length(t, s);
  predicate planned_path_to(struct cp_plan p, struct cp_tree t, integer s, integer k) =
    \forall integer j; 0 <= j < k ==> plan_chunk(p, s, j) == tree_chunk(t, s, j);
  predicate planned_runs_to(struct cp_plan p, struct cp_tree t, integer s, integer k) =
    \forall integer j; 0 <= j < k ==> plan_position(p, s, j) == key_at(j, t.chunk_size) &&
      plan_tokens(p, s, j) == t.fill[tree_chunk(t, s, j)] &&
      (j < tree_depth(t, s) - 1 ==> plan_tokens(p, s, j) == t.chunk_size);
  predicate planned_shared_to(struct cp_plan p, struct cp_tree t, integer s, integer k) =
    \forall integer j; 0 <= j < k ==>
      (j < p.sequence[s].n_shared <==> tree_shared(t, tree_chunk(t, s, j)));
  predicate path_is_shared(struct cp_tree t, integer s, integer k) =
    \forall integer j; 0 <= j < k ==> tree_shared(t, tree_chunk(t, s, j));

  // Each descriptor is that of a shared chunk, which begins before s, or at s and above depth k;
  // and each such chunk has one.
  predicate described(struct cp_plan p, struct cp_tree t) =
    \forall integer i; 0 <= i < p.n_shared ==> plan_describes(p, t, i);
  predicate described_below(struct cp_plan p, struct cp_tree t, integer s) =
    \forall integer i; 0 <= i < p.n_shared ==> plan_describes(p, t, i) && p.shared[i].begin < s;
  predicate listed_above(struct cp_plan p, struct cp_tree t, integer s, integer k) =
    \forall integer i; 0 <= i < p.n_shared ==> p.shared[i].begin < s ||
      (p.shared[i].begin == s && t.depth[p.shared[i].chunk] < k);
  predicate lists_above(struct cp_plan p, struct cp_tree t, integer s, integer k) =
    \forall integer x; tree_shared(t, x) ==>
      t.begin[x] < s || (t.begin[x] == s && t.depth[x] < k) ==> plan_lists(p, p.n_shared, x);
  predicate lists_below(struct cp_plan p, struct cp_tree t, integer s) =
    \forall integer x; tree_shared(t, x) ==> t.begin[x] < s ==> plan_lists(p, p.n_shared, x);
  // Chunk x alone begins at s, at depth k.
  predicate only_begins(struct cp_tree t, integer x, integer s, integer k) =
    \forall integer y; tree_shared(t, y) ==> t.begin[y] == s ==> t.depth[y] == k ==> y == x;
  predicate positions_above(struct cp_plan p, integer n, integer s, integer position) =
    \forall integer i; 0 <= i < n ==> p.shared[i].begin < s || p.shared[i].position < position;
  predicate still_listed(struct cp_plan a, struct cp_plan b, integer n) =
    \forall integer x; plan_lists(a, n, x) ==> plan_lists(b, n + 1, x);

  // What the plan has of the tree for the sequences before s; what it had of others, and of
  // descriptors, behind.
  predicate plan_sizes_of(struct cp_plan p, struct cp_tree t) =
    p.capacity == t.pool.capacity && p.chunk_size == t.chunk_size &&
    p.n_sequences == t.n_sequences && 0 <= p.n_shared <= p.capacity;
  predicate sequences_to(struct cp_plan p, struct cp_tree t, integer s) =
    \forall integer r; 0 <= r < s ==> plan_sequence_of(p, t, r);
  predicate lengths_to(struct cp_plan p, struct cp_tree t, integer s) =
    \forall integer r; 0 <= r < s ==> plan_length_of(p, t, r);
  predicate sequences_same_from(struct cp_plan a, struct cp_plan b, integer s) =
    \forall integer r; s <= r < CP_MAX_SEQUENCES ==> b.sequence[r] == a.sequence[r];
  predicate descriptors_same(struct cp_plan a, struct cp_plan b, integer n) =
    \forall integer i; n <= i < CP_MAX_CHUNKS ==> b.shared[i] == a.shared[i];
*/

/* Distinct chunks, and another one, are fewer than the pool has: the descriptors find room. */
/*@ ghost
  /@ requires \valid(plan);
     requires sizes: 0 <= plan->n_shared <= plan->capacity <= CP_MAX_CHUNKS;
     requires chunk: 0 <= chunk < plan->capacity;
     requires listed: \forall integer i; 0 <= i < plan->n_shared ==>
       0 <= plan->shared[i].chunk < plan->capacity && plan->shared[i].chunk != chunk;
     requires distinct: \forall integer i, j; 0 <= i < j < plan->n_shared ==>
       plan->shared[i].chunk != plan->shared[j].chunk;
     assigns \nothing;
     ensures room: plan->n_shared < plan->capacity; @/
  void pigeonhole(struct cp_plan *plan, int chunk) {
    int left[CP_MAX_CHUNKS];
    int n = plan->n_shared;
    int m = plan->capacity - 1;
    /@ loop invariant i: 0 <= i <= n;
       loop invariant left: \forall integer j; 0 <= j < i ==>
         left[j] == (plan->shared[j].chunk == m ? chunk : plan->shared[j].chunk);
       loop assigns i, left[0 .. CP_MAX_CHUNKS - 1];
       loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      left[i] = plan->shared[i].chunk == m ? chunk : plan->shared[i].chunk;
    }
    /@ assert below: \forall integer i; 0 <= i < n ==> 0 <= left[i] < m; @/
    /@ loop invariant n: 0 <= n <= plan->n_shared && 0 <= m;
       loop invariant both: plan->n_shared - n == plan->capacity - 1 - m;
       loop invariant below: \forall integer i; 0 <= i < n ==> 0 <= left[i] < m;
       loop invariant distinct: \forall integer i, j; 0 <= i < j < n ==> left[i] != left[j];
       loop assigns n, m, left[0 .. CP_MAX_CHUNKS - 1];
       loop variant n; @/
    while (n > 0) {
      int k = 0;
      /@ assert some: left[0] < m; @/
      n--;
      m--;
      /@ loop invariant k: 0 <= k <= n;
         loop invariant others: \forall integer i; 0 <= i < k ==> left[i] != m;
         loop assigns k;
         loop variant n - k; @/
      while (k < n && left[k] != m) {
        k++;
      }
      left[k] = left[n];
    }
  }
*/

/* The tree's plan is valid. One sequence, one descriptor, two of them, one pair: */
/*@ ghost
  /@ requires n: 0 < n;
     assigns \nothing;
     ensures tokens: tokens_in(n, c, last) == key_at(n - 1, c) + last; @/
  void last_chunk(int n, int c, int last) {
    /@ assert keys: key_at(n - 1, c) == (n - 1) * c; @/
  }
  /@ requires valid: \valid(plan) && \valid_read(tree) && \separated(plan, tree);
     requires ok: tree_ok(*tree);
     requires sequence: 0 <= s < tree->n_sequences;
     requires sizes: plan->capacity == tree->pool.capacity && plan->chunk_size == tree->chunk_size;
     requires planned: plan_sequence_of(*plan, *tree, s);
     requires length: plan_length_of(*plan, *tree, s);
     assigns \nothing;
     ensures path: plan_path(*plan, s);
     ensures length: plan_length(*plan, s); @/
  void sequence_is_ok(struct cp_plan *plan, const struct cp_tree *tree, int s) {
    int n = plan->sequence[s].n_chunks;
    if (n > 0) {
      /@ assert used: pool_used(tree->pool, tree_chunk(*tree, s, n - 1)); @/
      /@ assert last: 1 <= tree_last_fill(*tree, s) <= tree->chunk_size; @/
      last_chunk(n, tree->chunk_size, tree->fill[tree->sequence[s].chunk[n - 1]]);
      /@ assert next: key_at(n, plan->chunk_size) ==
           key_at(n - 1, plan->chunk_size) + plan->chunk_size; @/
      if (plan->sequence[s].n_shared == n) {
        /@ assert full: tree_last_fill(*tree, s) == tree->chunk_size; @/
      } else {
        /@ assert shared: key_at(plan->sequence[s].n_shared, plan->chunk_size) <=
             key_at(n - 1, plan->chunk_size); @/
      }
    } else {
      /@ assert none: key_at(n - 1, plan->chunk_size) < 0; @/
    }
  }
  /@ requires valid: \valid(plan) && \valid_read(tree) && \separated(plan, tree);
     requires ok: tree_ok(*tree);
     requires paths: plan_paths_of(*plan, *tree);
     requires descriptor: 0 <= i < plan->n_shared;
     assigns \nothing;
     ensures depth: plan_depth(*plan, i) == tree->depth[plan->shared[i].chunk];
     ensures ok: plan_descriptor(*plan, i);
     ensures on_paths: \forall integer s; plan_serves(*plan, i, s) ==> plan_on_path(*plan, i, s); @/
  void descriptor_is_ok(struct cp_plan *plan, const struct cp_tree *tree, int i) {
    int chunk = plan->shared[i].chunk;
    /@ assert describes: plan_describes(*plan, *tree, i); @/
    /@ assert path: 0 <= tree->depth[chunk] < tree_depth(*tree, tree->begin[chunk]); @/
    /@ assert depth: plan_depth(*plan, i) == tree->depth[chunk]; @/
  }
  /@ requires valid: \valid(plan) && \valid_read(tree) && \separated(plan, tree);
     requires ok: pool_ok(tree->pool) && tree_cover(*tree);
     requires descriptors: 0 <= i < CP_MAX_CHUNKS && 0 <= j < CP_MAX_CHUNKS;
     requires describes: plan_describes(*plan, *tree, i) && plan_describes(*plan, *tree, j);
     requires before: plan_before(*plan, i, j);
     requires depth: tree->depth[plan->shared[i].chunk] == tree->depth[plan->shared[j].chunk];
     assigns \nothing;
     ensures apart: plan->shared[i].end <= plan->shared[j].begin; @/
  void two_are_apart(struct cp_plan *plan, const struct cp_tree *tree, int i, int j) {
    int x = plan->shared[i].chunk;
    int y = plan->shared[j].chunk;
    if (tree->begin[y] < tree->end[x]) {
      /@ assert inside: tree->begin[x] <= tree->begin[y]; @/
      /@ assert on_x: tree_chunk(*tree, tree->begin[y], tree->depth[x]) == x; @/
      /@ assert on_y: tree_chunk(*tree, tree->begin[y], tree->depth[y]) == y; @/
      /@ assert same: x == y; @/
    }
  }
  /@ requires valid: \valid(plan) && \valid_read(tree) && \separated(plan, tree);
     requires ok: tree_ok(*tree);
     requires paths: plan_paths_of(*plan, *tree);
     requires depths: \forall integer i; 0 <= i < plan->n_shared ==>
       plan_depth(*plan, i) == tree->depth[plan->shared[i].chunk];
     requires pair: 0 <= s < plan->n_sequences && 0 <= k < plan->sequence[s].n_shared;
     assigns \nothing;
     ensures covered: plan_covered(*plan, s, k); @/
  void pair_is_covered(struct cp_plan *plan, const struct cp_tree *tree, int s, int k) {
    int chunk = tree->sequence[s].chunk[k];
    /@ assert sequence: plan_sequence_of(*plan, *tree, s); @/
    /@ assert shared: tree_shared(*tree, chunk); @/
    /@ assert path: tree->begin[chunk] <= s < tree->end[chunk] && tree->depth[chunk] == k; @/
    /@ assert listed: plan_lists(*plan, plan->n_shared, chunk); @/
    /@ assert served: \forall integer i; 0 <= i < plan->n_shared ==>
         plan->shared[i].chunk == chunk ==>
         plan_serves(*plan, i, s) && plan_depth(*plan, i) == k; @/
  }
  /@ requires valid: \valid(plan) && \valid_read(tree) && \separated(plan, tree);
     requires ok: tree_ok(*tree);
     requires paths: plan_paths_of(*plan, *tree);
     requires lengths: plan_lengths_of(*plan, *tree);
     assigns \nothing;
     ensures ok: plan_ok(*plan); @/
  void plan_of_is_ok(struct cp_plan *plan, const struct cp_tree *tree) {
    /@ loop invariant s: 0 <= s <= plan->n_sequences;
       loop invariant sequences: \forall integer r; 0 <= r < s ==>
         plan_path(*plan, r) && plan_length(*plan, r);
       loop assigns s;
       loop variant plan->n_sequences - s; @/
    for (int s = 0; s < plan->n_sequences; s++) {
      sequence_is_ok(plan, tree, s);
    }
    /@ loop invariant i: 0 <= i <= plan->n_shared;
       loop invariant depths: \forall integer j; 0 <= j < i ==>
         plan_depth(*plan, j) == tree->depth[plan->shared[j].chunk];
       loop invariant descriptors: plan_descriptors(*plan, i);
       loop invariant on_paths: plan_on_paths(*plan, i);
       loop invariant disjoint: plan_disjoint(*plan, i);
       loop assigns i;
       loop variant plan->n_shared - i; @/
    for (int i = 0; i < plan->n_shared; i++) {
      descriptor_is_ok(plan, tree, i);
      /@ loop invariant j: 0 <= j <= i;
         loop invariant apart: \forall integer k; 0 <= k < j ==>
           plan_depth(*plan, k) == plan_depth(*plan, i) ==>
           plan->shared[k].end <= plan->shared[i].begin;
         loop assigns j;
         loop variant i - j; @/
      for (int j = 0; j < i; j++) {
        /@ assert before: plan_before(*plan, j, i); @/
        if (tree->depth[plan->shared[i].chunk] == tree->depth[plan->shared[j].chunk]) {
          two_are_apart(plan, tree, j, i);
        }
      }
    }
    /@ loop invariant s: 0 <= s <= plan->n_sequences;
       loop invariant covers: plan_covers(*plan, s);
       loop assigns s;
       loop variant plan->n_sequences - s; @/
    for (int s = 0; s < plan->n_sequences; s++) {
      /@ loop invariant k: 0 <= k <= plan->sequence[s].n_shared;
         loop invariant covered: \forall integer j; 0 <= j < k ==> plan_covered(*plan, s, j);
         loop assigns k;
         loop variant plan->sequence[s].n_shared - k; @/
      for (int k = 0; k < plan->sequence[s].n_shared; k++) {
        pair_is_covered(plan, tree, s, k);
      }
    }
  }
*/

#endif
