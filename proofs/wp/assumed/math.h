/* SPDX-License-Identifier: Apache-2.0 */
/* What the proofs assume of the mathematical library: the whole of it. It stands in for <math.h> while
 * Frama-C reads ref/softmax.c, over the reals; proofs/SOUNDNESS.md says what that leaves open. */
#ifndef CHUNKPROOF_PROOFS_ASSUMED_MATH_H
#define CHUNKPROOF_PROOFS_ASSUMED_MATH_H

#include "chunkproof/softmax.h"

/*@
  assigns \nothing;
  ensures exponential: \result == e(x);
*/
double exp(double x);

/*@
  requires positive: x > 0.0;
  assigns \nothing;
  ensures logarithm: e(\result) == x;
*/
double log(double x);

/* An infinity is no real number, and nothing is assumed of it. */
/*@ assigns \nothing; */
double cp_assumed_infinity(void);
#define INFINITY (cp_assumed_infinity())

/* Over the reals all numbers are finite; nothing is concluded from it. */
/*@
  assigns \nothing;
  ensures finite: \result != 0 <==> finite(x);
*/
int isfinite(double x);

#endif
