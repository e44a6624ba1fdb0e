/* SPDX-License-Identifier: Apache-2.0 */
/* A bound for ref/tree_match.c, as a ghost function. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_MATCH_H
#define CHUNKPROOF_LOGIC_TREE_MATCH_H

#include "chunkproof/tree.h"

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
