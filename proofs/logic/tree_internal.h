/* SPDX-License-Identifier: Apache-2.0 */
/* What the contracts of ref/tree_internal.h speak of. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_INTERNAL_H
#define CHUNKPROOF_LOGIC_TREE_INTERNAL_H

#include "chunkproof/tree.h"

/*@
  // Chunk x is one of the first n of sequence s.
  predicate tree_on(struct cp_tree t, integer s, integer n, integer x) =
    0 <= t.depth[x] < n && tree_chunk(t, s, t.depth[x]) == x;
*/

#endif
