/* SPDX-License-Identifier: Apache-2.0 */
/* Factors between maxima, for ref/softmax.c. Provers alone read this file. */
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
*/

#endif
