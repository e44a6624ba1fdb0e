/* SPDX-License-Identifier: Apache-2.0 */
/* What an append keeps, and the sequences of a batch, for ref/tree_append.c. Provers alone read
 * this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_APPEND_H
#define CHUNKPROOF_LOGIC_TREE_APPEND_H

#include "chunkproof/tree.h"

/* For `assigns` of a loop: what appends change. */
/* clang-format off */
#define APPENDED(tree) tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1], \
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->depth[0 .. CP_MAX_CHUNKS - 1], \
    tree->fill[0 .. CP_MAX_CHUNKS - 1], tree->hash[0 .. CP_MAX_CHUNKS - 1], \
    tree->tokens[0 .. CP_MAX_CHUNKS - 1], tree->sequence[0 .. CP_MAX_SEQUENCES - 1], \
    tree->stamp.epoch
/* clang-format on */

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
  // A sequence that stays twice stays; one that stays and grows, or grows and stays, grows. What
  // stays needs a chunk as before, and has as many tokens.
  lemma kept_twice: \forall struct cp_tree a, b, c, integer s; tree_kept(a, s, b, s) ==>
    tree_kept(b, s, c, s) ==> tree_kept(a, s, c, s);
  lemma kept_then_grown: \forall struct cp_tree a, b, c, integer s, token;
    tree_kept(a, s, b, s) ==> tree_grown(b, c, s, token) ==> tree_grown(a, c, s, token);
  lemma last_stays: \forall struct cp_tree b, c, integer s; tree_kept(b, s, c, s) ==>
    0 < tree_depth(b, s) ==> 1 <= tree_last_fill(b, s) ==>
    tree_last_fill(c, s) == tree_last_fill(b, s) &&
    c.tokens[tree_chunk(c, s, tree_depth(c, s) - 1)].token[tree_last_fill(c, s) - 1] ==
      b.tokens[tree_chunk(b, s, tree_depth(b, s) - 1)].token[tree_last_fill(b, s) - 1];
  lemma its_tokens_stay: \forall struct cp_tree a, b, c, integer s, token;
    tree_grown(a, b, s, token) ==> tree_kept(b, s, c, s) ==> its_tokens_kept(a, c, s);
  lemma grown_then_kept: \forall struct cp_tree a, b, c, integer s, token;
    tree_grown(a, b, s, token) ==> 1 <= tree_last_fill(b, s) ==> tree_kept(b, s, c, s) ==>
    tree_grown(a, c, s, token);
  lemma kept_is_as_long: \forall struct cp_tree a, b, integer s; tree_kept(a, s, b, s) ==>
    0 <= tree_depth(a, s) ==> a.chunk_size == b.chunk_size ==>
    tree_length(a, s) == tree_length(b, s) && (tree_needs_chunk(a, s) <==> tree_needs_chunk(b, s));
  lemma same_paths_twice: \forall struct cp_tree a, b, c; tree_same_paths(a, b) ==>
    tree_same_paths(b, c) ==> tree_same_paths(a, c);
*/

/*@
  // A batch: the first n are in order; they need so many chunks, and no part of them needs more.
  predicate in_order{L}(int *at, integer n) =
    \forall integer i, j; 0 <= i < j < n ==> at[i] < at[j];
  predicate batch_needs{L}(struct cp_tree t, integer n, int *at, integer needed) =
    needed == tree_needed(t, at, n) && 0 <= needed <= n &&
    (\forall integer i; 0 <= i <= n ==> tree_needed(t, at, i) <= needed);
  // The first n have taken the chunks that they need; the other sequences stay.
  predicate batch_taken{L}(struct cp_tree a, struct cp_tree b, integer n, int *at) =
    0 <= tree_needed(a, at, n) <= n && b.pool.n_free == a.pool.n_free - tree_needed(a, at, n) &&
    counted(a.stamp.epoch, tree_needed(a, at, n), b.stamp.epoch);
  predicate others_kept{L}(struct cp_tree a, struct cp_tree b, integer n, int *at) =
    \forall integer r; 0 <= r < b.n_sequences ==> !among(at, n, r) ==> tree_kept(a, r, b, r);
  // Sequence s is the i-th of a batch in order: none of those before it, which have a last chunk
  // that is not empty; what is not among those up to it is neither.
  predicate is_next{L}(struct cp_tree t, int *at, integer i, integer s) =
    at[i] == s && 0 <= i && 0 <= s < t.n_sequences && !among(at, i, s) &&
    (\forall integer j; 0 <= j < i ==> at[j] != s && 0 <= at[j] < t.n_sequences &&
      1 <= tree_last_fill(t, at[j])) &&
    (\forall integer r; !among(at, i + 1, r) ==> !among(at, i, r) && r != s);
  // Sequence s is as it was: it needs a chunk if it did.
  predicate still_needs(struct cp_tree a, struct cp_tree b, integer s) =
    tree_kept(a, s, b, s) && a.chunk_size == b.chunk_size &&
    tree_length(a, s) == tree_length(b, s) && (tree_needs_chunk(a, s) <==> tree_needs_chunk(b, s));

  // When the i-th has its token, one more has, and the others still stay.
  lemma others_kept_next{L}: \forall struct cp_tree a, b, c, int *at, integer i, s;
    others_kept(a, b, i, at) ==> is_next(b, at, i, s) ==> tree_kept_but(b, c, s) ==>
    b.n_sequences == c.n_sequences ==> others_kept(a, c, i + 1, at);
  lemma grown_stays: \forall struct cp_tree a, b, c, integer s, token;
    tree_grown(a, b, s, token) ==> 1 <= tree_last_fill(b, s) ==> tree_longer(a, b, s) ==>
    tree_kept(b, s, c, s) ==> b.chunk_size == c.chunk_size ==>
    tree_grown(a, c, s, token) && tree_longer(a, c, s);
  lemma grown_now: \forall struct cp_tree a, b, c, integer s, token; still_needs(a, b, s) ==>
    tree_grown(b, c, s, token) ==> tree_longer(b, c, s) ==>
    tree_grown(a, c, s, token) && tree_longer(a, c, s);
  lemma batch_stays{L}: \forall struct cp_tree a, b, c, int *at, *token, integer i, s;
    batch_grown(a, b, i, at, token) ==> is_next(b, at, i, s) ==> tree_kept_but(b, c, s) ==>
    b.n_sequences == c.n_sequences ==> b.chunk_size == c.chunk_size ==>
    batch_grown(a, c, i, at, token);
  lemma batch_grown_next{L}: \forall struct cp_tree a, c, int *at, *token, integer i;
    batch_grown(a, c, i, at, token) ==> tree_grown(a, c, at[i], token[i]) ==>
    tree_longer(a, c, at[i]) ==> batch_grown(a, c, i + 1, at, token);
*/

#endif
