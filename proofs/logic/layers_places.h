/* SPDX-License-Identifier: Apache-2.0 */
/* No two numbers of some rows have one place (LAYER-4). Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_LAYERS_PLACES_H
#define CHUNKPROOF_LOGIC_LAYERS_PLACES_H

#include "proofs/logic/layers.h"

/* A ghost function is a lemma: its contract is the statement, its body the proof. */
/*@ ghost
  /@ requires place: 0 <= s < n && 0 <= r < d;
     assigns \nothing;
     ensures alone: is_alone(s, r, n, d); @/
  static void place_is_alone(int s, int r, int n, int d) {
    /@ assert before: \forall integer t; 0 <= t < s ==> row_at(t, d) + d <= row_at(s, d); @/
    /@ assert behind: \forall integer t; s < t < n ==> row_at(s, d) + d <= row_at(t, d); @/
  }
*/

#endif
