/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds and predicates for ref/tree_join.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_JOIN_H
#define CHUNKPROOF_LOGIC_TREE_JOIN_H

#include "proofs/logic/tree_internal.h"

/* Quotients of two unknowns are what the provers are worst at; here they meet them alone. */
/*@ ghost
  /@ requires 0 < c && 0 <= n;
     assigns \nothing;
     ensures 0 <= n / c <= chunks_for(n, c) <= n / c + 1 && chunks_for(n, c) <= n;
     ensures 0 < n ==> 0 < chunks_for(n, c) && (chunks_for(n, c) - 1) * c < n;
     ensures n <= chunks_for(n, c) * c;
     ensures chunks_for(n, c) > CP_MAX_DEPTH <==> n > CP_MAX_DEPTH * c; @/
  void chunks_bound(int n, int c) {
    /@ assert n == (n / c) * c + n % c && 0 <= n % c < c; @/
  }
  /@ requires 0 < c && 0 <= n && 0 <= k < chunks_for(n, c);
     assigns \nothing;
     ensures 0 <= k * c < n;
     ensures k + 1 < chunks_for(n, c) ==> k * c + c <= n;
     ensures k + 1 == chunks_for(n, c) ==> n <= k * c + c; @/
  void part_bound(int k, int c, int n) {
    /@ assert n == (n / c) * c + n % c && 0 <= n % c < c; @/
    /@ assert k * c <= (n / c) * c; @/
    /@ assert k + 1 <= n / c ==> (k + 1) * c <= (n / c) * c; @/
    /@ assert k == n / c ==> k * c == (n / c) * c; @/
    /@ assert k + 1 == n / c ==> k * c + c == (n / c) * c; @/
  }
  /@ requires 0 < c && 0 <= k && n == k * c;
     assigns \nothing;
     ensures n / c == k && n % c == 0; @/
  void quotient_of_product(int n, int k, int c) {
  }
*/

/*@
  // The chunks of sequence s from depth k on are new since p, and its own.
  predicate tree_new_from(struct cp_tree t, integer s, integer k, struct cp_pool p) =
    \forall integer j; k <= j < tree_depth(t, s) ==>
      !pool_used(p, tree_chunk(t, s, j)) && tree_own(t, tree_chunk(t, s, j), s);

  // All chunks but x have their tokens.
  predicate other_tokens_same(struct cp_tree a, struct cp_tree b, integer x) =
    \forall integer y; 0 <= y < CP_MAX_CHUNKS ==> y != x ==> b.tokens[y] == a.tokens[y];

  // Sequence s has n tokens; its name and domain; the chunks that were used are, with their tokens.
  predicate length_is(struct cp_tree t, integer s, integer n) = tree_length(t, s) == n;
  predicate row_same(struct cp_tree a, struct cp_tree b, integer s) =
    b.sequence[s].id == a.sequence[s].id && b.sequence[s].salt == a.sequence[s].salt;
  predicate used_still(struct cp_tree a, struct cp_tree b) =
    \forall integer x; pool_used(a.pool, x) ==> pool_used(b.pool, x);
  predicate contents_same(struct cp_tree a, struct cp_tree b) =
    \forall integer x; pool_used(a.pool, x) ==>
      b.fill[x] == a.fill[x] && b.tokens[x] == a.tokens[x];
  // The first n chunks of sequence s hold what they held, and the prompt.
  predicate path_content_same(struct cp_tree a, struct cp_tree b, integer s, integer n) =
    \forall integer j, i; 0 <= j < n ==>
      b.fill[tree_chunk(b, s, j)] == a.fill[tree_chunk(a, s, j)] &&
      (0 <= i < b.fill[tree_chunk(b, s, j)] ==>
        b.tokens[tree_chunk(b, s, j)].token[i] == a.tokens[tree_chunk(a, s, j)].token[i]);
  predicate parts_to{L}(struct cp_tree t, integer s, integer n, int *token, integer c) =
    \forall integer j; 0 <= j < n ==> tree_part(t, s, j, token, c);

  // A join: the first n chunks of sequence s go up to `at`, only they have it inside, and they
  // hold the prompt.
  predicate path_reaches(struct cp_tree t, integer s, integer n, integer at) =
    \forall integer x; pool_used(t.pool, x) ==> tree_on(t, s, n, x) ==>
      t.begin[x] < at <= t.end[x];
  predicate only_path_inside(struct cp_tree t, integer s, integer n, integer at) =
    \forall integer x; pool_used(t.pool, x) ==> t.begin[x] < at < t.end[x] ==>
      n > 0 && tree_on(t, s, n, x);
  predicate path_found{L}(struct cp_tree t, integer s, integer n, int *token, integer c) =
    \forall integer k; 0 <= k < n ==> t.fill[tree_chunk(t, s, k)] == c &&
      (\forall integer i; 0 <= i < c ==>
        t.tokens[tree_chunk(t, s, k)].token[i] == token[k * c + i]);
  // The last of the n chunks of the new sequence is that of sequence `from`, which is on it.
  predicate last_shared(struct cp_tree a, struct cp_tree b, integer s, integer from, integer n) =
    tree_last_shared(b, s, n) == tree_chunk(a, from, n - 1) &&
    a.begin[tree_last_shared(b, s, n)] <= from;
  // With the right hashes, no match was missed.
  predicate join_must_lack{L}(struct cp_tree t, int *token, integer n_tokens, integer salt,
                              unsigned long long *hash) =
    prompt_hashed(t, token, n_tokens, hash) ==> join_lacks(t, token, n_tokens, salt);
  predicate prompt_first{L}(struct cp_tree a, struct cp_tree b, integer s, integer n, int *token,
                            integer n_tokens, unsigned long long *hash, integer salt) =
    n > 0 ==> prompt_hashed(a, token, n_tokens, hash) ==> join_first(a, b, s, n, token, salt);

  // n chunks were taken from a's pool. (A name, lest k in a loop become an expression in n_free.)
  predicate tree_took(struct cp_tree b, struct cp_tree a, integer n) =
    b.pool.n_free == a.pool.n_free - n;
*/

#endif
