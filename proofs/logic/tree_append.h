/* SPDX-License-Identifier: Apache-2.0 */
/* The sequences of a batch, for ref/tree_append.c. Provers alone read this file. */
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

#endif
