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
*/

#endif
