/* SPDX-License-Identifier: Apache-2.0 */
/* How scores are made (struct cp_scoring of ref/softmax_internal.h), as the contracts name it.
 * Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_SOFTMAX_INTERNAL_H
#define CHUNKPROOF_LOGIC_SOFTMAX_INTERNAL_H

#include "ref/softmax_internal.h"

/*@
  logic scaling made_scaling(struct cp_scaling s) =
    scaled_by(s.scales, s.begin, s.each);
  // Where the scale of the j-th key is; that those of n keys may be read.
  axiomatic ScaleIndex {
    logic integer scale_index(struct cp_scaling s, integer j);
    axiom scale_index_is: \forall struct cp_scaling s, integer j;
      scale_index(s, j) == (s.each == 0 ? s.begin : s.begin + j);
  }
  predicate scales_ready(struct cp_scaling s, integer n) =
    s.begin + n <= 0x7FFFFFFFFFFFFFFF &&
    (s.scales != \null ==> \forall integer j; 0 <= j < n ==>
      float_readable(s.scales, scale_index(s, j)));
  logic biasing made_biasing(struct cp_biasing b) =
    biased_by(b.bias, b.begin, b.n, b.own);
  // SCORE-5: all entries may be read.
  predicate biases_ready(struct cp_biasing b) =
    b.bias != \null ==> 1 <= b.n && b.begin + b.n <= 0x7FFFFFFFFFFFFFFF &&
      \forall integer i; b.begin <= i < b.begin + b.n ==> double_readable(b.bias, i);
  logic scoring made_by(struct cp_scoring how) =
    made(how.scale, how.cap, how.slope, how.distance, made_biasing(how.bias), made_scaling(how.k),
      made_scaling(how.v));
*/

#endif
