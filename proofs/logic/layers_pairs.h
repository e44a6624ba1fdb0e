/* SPDX-License-Identifier: Apache-2.0 */
/* The pairs of a rotation have no number in common (DEC-8). Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_LAYERS_PAIRS_H
#define CHUNKPROOF_LOGIC_LAYERS_PAIRS_H

#include "proofs/logic/layers.h"

/* A ghost function is a lemma: its contract is the statement, its body the proof. */
/*@ ghost
  /@ requires pairs: pairs_ok(n, distance) && 0 <= i < n;
     assigns \nothing;
     ensures inside: 0 <= pair_begin(i, distance) && pair_begin(i, distance) + distance < 2 * n;
     ensures apart: pair_apart(i, n, distance); @/
  void pair_is_apart(int i, int n, int distance) {
    /@ assert floor: row_at(i / distance, distance) <= i <
         row_at(i / distance, distance) + distance; @/
    /@ assert all: row_at(n / distance, distance) == n; @/
    /@ assert group: row_at(i / distance, distance) + distance <= n; @/
    /@ assert begin: pair_begin(i, distance) == i + row_at(i / distance, distance); @/
    /@ loop invariant j: 0 <= j <= n;
       loop invariant apart: pair_apart(i, j, distance);
       loop assigns j;
       loop variant n - j; @/
    for (int j = 0; j < n; j++) {
      /@ assert floor_j: row_at(j / distance, distance) <= j <
           row_at(j / distance, distance) + distance; @/
      /@ assert begin_j: pair_begin(j, distance) == j + row_at(j / distance, distance); @/
      /@ assert below: j / distance < i / distance ==> row_at(j / distance, distance) + distance <=
           row_at(i / distance, distance); @/
      /@ assert above: i / distance < j / distance ==> row_at(i / distance, distance) + distance <=
           row_at(j / distance, distance); @/
    }
  }
*/

#endif
