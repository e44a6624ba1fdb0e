/* SPDX-License-Identifier: Apache-2.0 */
/* A bound for ref/tree_match.c, as a ghost function. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_MATCH_H
#define CHUNKPROOF_LOGIC_TREE_MATCH_H

#include "chunkproof/tree.h"

/*@
  // TREE-15: h is, before it is cut, the hash of any chunk that begins with these n tokens.
  predicate hash_begun{L}(integer h, int *token, integer n) =
    \forall struct cp_tokens chunk;
      (\forall integer i; 0 <= i < n ==> chunk.token[i] == token[i]) ==>
        h == hash_of_first(chunk, n);

  // Sequence s, if there is one, is known to match in n chunks; sequence s has the first n chunks
  // of sequence r.
  predicate known_matches{L}(struct cp_tree t, integer s, int *token, integer n, integer salt) =
    s < t.n_sequences ==>
      tree_matches(t, s, token, n) && (n > 0 ==> t.sequence[s].salt == salt);
  predicate has_path_of(struct cp_tree t, integer s, integer r, integer n) =
    \forall integer j; 0 <= j < n ==>
      j < tree_depth(t, s) && tree_chunk(t, s, j) == tree_chunk(t, r, j);

  // With right hashes: no sequence before s has more than n chunks; none before the best match has
  // as many.
  predicate is_longest{L}(struct cp_tree t, integer s, integer n, int *token, integer n_full,
                          integer salt, unsigned long long *hash) =
    hashes_right(t, token, hash, n_full) ==> no_longer(t, s, n, token, n_full, salt);
  predicate is_first{L}(struct cp_tree t, struct cp_match m, int *token, integer n_full,
                        integer salt, unsigned long long *hash) =
    hashes_right(t, token, hash, n_full) ==> m.n_chunks > 0 ==>
      no_longer(t, m.sequence, m.n_chunks - 1, token, n_full, salt);

  // All sequences from s on and before `end` have chunk x at depth k; are of one domain.
  predicate all_have(struct cp_tree t, integer s, integer end, integer k, integer x) =
    \forall integer r; s <= r < end ==> k < tree_depth(t, r) && tree_chunk(t, r, k) == x;
  predicate all_of_salt(struct cp_tree t, integer s, integer end, integer salt) =
    \forall integer r; s <= r < end ==> t.sequence[r].salt == salt;
*/

/* Products of two unknowns are what the provers are worst at; here they meet them alone. */
/*@ ghost
  /@ requires 0 < c && 0 <= n && 0 <= k < n / c;
     assigns \nothing;
     ensures 0 <= k * c && k * c + c <= n; @/
  void part_bound(int k, int c, int n) {
    /@ assert (n / c) * c <= n; @/
    /@ assert (k + 1) * c <= (n / c) * c; @/
  }
*/

#endif
