/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds and predicates for ref/tree_join.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_JOIN_H
#define CHUNKPROOF_LOGIC_TREE_JOIN_H

#include "chunkproof/tree.h"

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

  // n chunks were taken from a's pool. (A name, lest k in a loop become an expression in n_free.)
  predicate tree_took(struct cp_tree b, struct cp_tree a, integer n) =
    b.pool.n_free == a.pool.n_free - n;
*/

#endif
