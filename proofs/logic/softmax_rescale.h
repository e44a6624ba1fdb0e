/* SPDX-License-Identifier: Apache-2.0 */
/* For ref/softmax.c: factors between maxima, and what its loops have done so far. Provers alone
 * read this file. */
#ifndef CHUNKPROOF_LOGIC_SOFTMAX_RESCALE_H
#define CHUNKPROOF_LOGIC_SOFTMAX_RESCALE_H

#include "proofs/logic/softmax.h"

/*@
  // The factor x brings what is relative to one maximum to another.
  axiomatic Brings {
    predicate brings(real x, real from, real to);
    axiom brings_is: \forall real x, from, to; brings(x, from, to) <==> x * e(to) == e(from);
    lemma scaled_product: \forall real x, p, from, to; brings(x, from, to) ==>
      scaled(product(x, p), to) == scaled(p, from);
  }

  // The first n of d numbers o have gained weight * (scale * v); are x * part_o + y * o. The rest
  // is as before.
  predicate gained_to{L1,L2}(double *o, integer n, integer d, real weight, real scale,
                             void *v, integer type, integer at) =
    (\forall integer j; 0 <= j < n ==> \at(o[j], L2) ==
      sum(\at(o[j], L1), product(weight, product(scale, element(v, type, at + j))))) &&
    (\forall integer j; n <= j < d ==> \at(o[j], L2) == \at(o[j], L1));
  predicate added_to{L1,L2}(double *o, double *part_o, real x, real y, integer n, integer d) =
    (\forall integer j; 0 <= j < n ==> \at(o[j], L2) ==
      sum(product(x, \at(part_o[j], L2)), product(y, \at(o[j], L1)))) &&
    (\forall integer j; n <= j < d ==> \at(o[j], L2) == \at(o[j], L1));

  // MERGE-5: a state of no keys adds nothing.
  predicate adds_nothing{L}(struct cp_state s, double *o, integer d) =
    state_weight(s) == 0.0 && (\forall integer i; 0 <= i < d ==> state_sum(s, o[i]) == 0.0);
*/

#endif
