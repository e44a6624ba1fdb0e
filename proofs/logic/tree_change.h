/* SPDX-License-Identifier: Apache-2.0 */
/* What a leave and a fork keep, for ref/tree_change.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_CHANGE_H
#define CHUNKPROOF_LOGIC_TREE_CHANGE_H

#include "proofs/logic/tree_internal.h"

/*@
  // Leave: what a range of b has, the range of a had, where it was before s left.
  predicate ranges_left(struct cp_tree a, struct cp_tree b, integer s) =
    \forall integer x, r; pool_used(b.pool, x) ==> b.begin[x] <= r < b.end[x] ==>
      a.begin[x] <= (r < s ? r : r + 1) < a.end[x];

  // Fork: every chunk of b but the copy was in a, with these tokens; ...
  predicate chunks_kept_but(struct cp_tree a, struct cp_tree b, integer copy) =
    \forall integer x; pool_used(b.pool, x) ==> x != copy ==>
      pool_used(a.pool, x) && b.fill[x] == a.fill[x] && b.tokens[x] == a.tokens[x];
  // ... behind n shared chunks sequence s + 1 has the copy.
  predicate last_copied(struct cp_tree t, struct cp_forked f, integer s, integer n) =
    tree_chunk(t, s + 1, n) == f.copy_to && tree_chunk(t, s, n) == f.copy_from;
*/

#endif
