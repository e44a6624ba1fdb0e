/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds for ref/tree.c, as ghost functions. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_BOUNDS_H
#define CHUNKPROOF_LOGIC_TREE_BOUNDS_H

#include "chunkproof/tree.h"

/* Products of two unknowns are what the provers are worst at; here they meet them alone. */
/*@ ghost
  /@ requires 0 <= a <= a_max && 0 <= b <= b_max;
     assigns \nothing;
     ensures 0 <= a * b <= a_max * b_max; @/
  void product_bound(int a, int a_max, int b, int b_max) {
    /@ assert a * b <= a_max * b; @/
  }
  /@ requires 0 <= k && 0 < c && k < n * c;
     assigns \nothing;
     ensures 0 <= k / c < n && 0 <= k % c < c; @/
  void quotient_bound(int k, int c, int n) {
    /@ assert k == (k / c) * c + k % c && 0 <= k % c < c; @/
  }
*/

#endif
