/* SPDX-License-Identifier: Apache-2.0 */
/* The clauses of one path, for ref/tree_check.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_CHECK_H
#define CHUNKPROOF_LOGIC_TREE_CHECK_H

#include "chunkproof/tree.h"

/*@
  // TREE-3, TREE-5 and TREE-14 at depth k of sequence s.
  predicate path_at(struct cp_tree t, integer s, integer k) =
    pool_used(t.pool, tree_chunk(t, s, k)) && t.depth[tree_chunk(t, s, k)] == k &&
    t.begin[tree_chunk(t, s, k)] <= s < t.end[tree_chunk(t, s, k)] &&
    (k > 0 ==> t.begin[tree_chunk(t, s, k - 1)] <= t.begin[tree_chunk(t, s, k)] &&
      t.end[tree_chunk(t, s, k)] <= t.end[tree_chunk(t, s, k - 1)]) &&
    t.sequence[s].salt == t.sequence[t.begin[tree_chunk(t, s, k)]].salt;

  // TREE-5 for the first n chunks of sequence s.
  predicate path_nested(struct cp_tree t, integer s, integer n) =
    \forall integer j, k; 0 <= j <= k < n ==>
      t.begin[tree_chunk(t, s, j)] <= t.begin[tree_chunk(t, s, k)] &&
      t.end[tree_chunk(t, s, k)] <= t.end[tree_chunk(t, s, j)];

  // The same, and TREE-1 to TREE-4, TREE-15, as far as a loop has come: for the first n chunks of
  // a path, the first n sequences, the used chunks before place i of the pool's table, and for
  // chunk x the sequences before s.
  predicate path_to(struct cp_tree t, integer s, integer n) =
    \forall integer k; 0 <= k < n ==> path_at(t, s, k);
  predicate paths_to(struct cp_tree t, integer n) =
    \forall integer s, k; 0 <= s < n ==> 0 <= k < tree_depth(t, s) ==> path_at(t, s, k);
  predicate nested_to(struct cp_tree t, integer n) =
    \forall integer s; 0 <= s < n ==> path_nested(t, s, tree_depth(t, s));
  predicate depths_to(struct cp_tree t, integer n) =
    \forall integer s; 0 <= s < n ==> 0 <= tree_depth(t, s) <= CP_MAX_DEPTH;
  predicate ranges_to(struct cp_tree t, integer i) =
    \forall integer x; pool_used(t.pool, x) ==> t.pool.pos[x] < i ==>
      0 <= t.begin[x] < t.end[x] <= t.n_sequences && 1 <= t.fill[x] <= t.chunk_size;
  predicate private_to(struct cp_tree t, integer i) =
    \forall integer x; pool_used(t.pool, x) ==> t.pool.pos[x] < i ==> t.fill[x] < t.chunk_size ==>
      t.end[x] == t.begin[x] + 1 && t.depth[x] == tree_depth(t, t.begin[x]) - 1;
  predicate on_paths_to(struct cp_tree t, integer x, integer s) =
    \forall integer r; t.begin[x] <= r < s ==>
      0 <= t.depth[x] < tree_depth(t, r) && tree_chunk(t, r, t.depth[x]) == x;
  predicate cover_to(struct cp_tree t, integer i) =
    \forall integer x; pool_used(t.pool, x) ==> t.pool.pos[x] < i ==> on_paths_to(t, x, t.end[x]);
  predicate hashes_to(struct cp_tree t, integer i) =
    \forall integer x; pool_used(t.pool, x) ==> t.pool.pos[x] < i ==> t.fill[x] == t.chunk_size ==>
      t.hash[x] == hash_of(t.tokens[x], t.chunk_size, t.hash_bits);
*/

#endif
