/* SPDX-License-Identifier: Apache-2.0 */
/* What the contracts of ref/tree_internal.h speak of. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_INTERNAL_H
#define CHUNKPROOF_LOGIC_TREE_INTERNAL_H

#include "chunkproof/tree.h"

/* For `assigns`: what is known of chunks, and the pool's free ones. */
/* clang-format off */
#define CHUNKS_OF(tree) \
    tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1], tree->end[0 .. CP_MAX_CHUNKS - 1], \
    tree->depth[0 .. CP_MAX_CHUNKS - 1], tree->fill[0 .. CP_MAX_CHUNKS - 1], \
    tree->hash[0 .. CP_MAX_CHUNKS - 1], tree->tokens[0 .. CP_MAX_CHUNKS - 1]
/* clang-format on */

/*@
  // Chunk x is one of the first n of sequence s.
  predicate tree_on(struct cp_tree t, integer s, integer n, integer x) =
    0 <= t.depth[x] < n && tree_chunk(t, s, t.depth[x]) == x;
  // Sequence s has the first n chunks of sequence r; those that it had.
  predicate path_shared(struct cp_tree t, integer s, integer r, integer n) =
    \forall integer k; 0 <= k < n ==> tree_chunk(t, s, k) == tree_chunk(t, r, k);
  predicate path_same(struct cp_tree a, struct cp_tree b, integer s, integer n) =
    \forall integer k; 0 <= k < n ==> tree_chunk(b, s, k) == tree_chunk(a, s, k);

  // TREE-2: no chunk of sequence s is partial.
  predicate no_partial_of(struct cp_tree t, integer s) =
    \forall integer x; pool_used(t.pool, x) ==> t.fill[x] < t.chunk_size ==> t.begin[x] != s;
*/

#endif
