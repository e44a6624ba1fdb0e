/* SPDX-License-Identifier: Apache-2.0 */
/* What an append keeps, and the sequences of a batch, for ref/tree_append.c. Provers alone read
 * this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_APPEND_H
#define CHUNKPROOF_LOGIC_TREE_APPEND_H

#include "chunkproof/tree.h"

/*@
  // Sequence s is one of at[0 .. n).
  axiomatic Among {
    predicate among{L}(int *at, integer n, integer s) reads at[0 .. n - 1];
    axiom among_is{L}: \forall int *at, integer n, s;
      among(at, n, s) <==> \exists integer j; 0 <= j < n && at[j] == s;
    lemma among_next{L}: \forall int *at, integer n, s; 0 <= n ==>
      (among(at, n + 1, s) <==> among(at, n, s) || at[n] == s);
  }
*/

/*@
  // One append. Sequence s has n chunks, the last of them with `last` tokens.
  predicate length_is(struct cp_tree t, integer s, integer n, integer last) =
    tree_length(t, s) == tokens_in(n, t.chunk_size, last);
  // Paths and domains of a are in b; so are the tokens of all chunks but x.
  predicate paths_kept(struct cp_tree a, struct cp_tree b) =
    \forall integer r; 0 <= r < b.n_sequences ==> b.sequence[r].salt == a.sequence[r].salt &&
      \forall integer k; 0 <= k < tree_depth(a, r) ==> tree_chunk(b, r, k) == tree_chunk(a, r, k);
  predicate tokens_same_but(struct cp_tree a, struct cp_tree b, integer x) =
    \forall integer y; 0 <= y < CP_MAX_CHUNKS ==> y != x ==>
      b.tokens[y] == a.tokens[y] && b.hash[y] == a.hash[y];
  // Chunk x is on no path but that of s.
  predicate rows_apart_from(struct cp_tree t, integer s, integer x) =
    \forall integer r, k; 0 <= r < t.n_sequences ==> r != s ==> 0 <= k < tree_depth(t, r) ==>
      pool_used(t.pool, tree_chunk(t, r, k)) && tree_chunk(t, r, k) != x;
  // The other sequences have the tokens that they had; s has at least those.
  predicate other_tokens_kept(struct cp_tree a, struct cp_tree b, integer s) =
    \forall integer r, k, i; 0 <= r < b.n_sequences ==> r != s ==> 0 <= k < tree_depth(b, r) ==>
      0 <= i < b.fill[tree_chunk(b, r, k)] ==>
      b.tokens[tree_chunk(b, r, k)].token[i] == a.tokens[tree_chunk(b, r, k)].token[i];
  predicate its_tokens_kept(struct cp_tree a, struct cp_tree b, integer s) =
    \forall integer k, i; 0 <= k < tree_depth(a, s) ==> 0 <= i < a.fill[tree_chunk(a, s, k)] ==>
      b.tokens[tree_chunk(b, s, k)].token[i] == a.tokens[tree_chunk(a, s, k)].token[i];
*/

/*@
  // A batch: the first n are in order; they need so many chunks, and no part of them needs more.
  predicate in_order{L}(int *at, integer n) =
    \forall integer i, j; 0 <= i < j < n ==> at[i] < at[j];
  predicate batch_needs{L}(struct cp_tree t, integer n, int *at, integer needed) =
    needed == tree_needed(t, at, n) && 0 <= needed <= n &&
    (\forall integer i; 0 <= i <= n ==> tree_needed(t, at, i) <= needed);
*/

#endif
