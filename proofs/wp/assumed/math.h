/* SPDX-License-Identifier: Apache-2.0 */
/* What the proofs assume of the mathematical library: the whole of it. It stands in for <math.h>
 * while Frama-C reads ref/, over the reals; proofs/SOUNDNESS.md says what that leaves open. */
#ifndef CHUNKPROOF_PROOFS_ASSUMED_MATH_H
#define CHUNKPROOF_PROOFS_ASSUMED_MATH_H

#include "chunkproof/softmax.h"
#include "proofs/logic/layers_library.h"

/*@
  assigns \nothing;
  ensures exponential: \result == e(x);
*/
double exp(double x);

/*@
  assigns \nothing;
  ensures hyperbolic_tangent: \result == tanh_of(x);
  ensures by_exponentials: \result == 1.0 - 2.0 / (e(2.0 * x) + 1.0);
*/
double tanh(double x);

/*@
  requires positive: x > 0.0;
  assigns \nothing;
  ensures logarithm: e(\result) == x;
*/
double log(double x);

/* An infinity is no real number, and nothing is assumed of it but that neither it nor its opposite
 * is finite, as isfinite() says, and that the opposite alone is what the contracts call minus
 * infinity. */
/*@
  assigns \nothing;
  ensures infinite: !finite(\result) && !finite(-\result);
  ensures opposite: minus_infinity(-\result) && !minus_infinity(\result);
*/
double cp_assumed_infinity(void);
#define INFINITY (cp_assumed_infinity())

/* Nothing is assumed of a NaN. */
/*@ assigns \nothing; */
double cp_assumed_nan(void);
#define NAN (cp_assumed_nan())

/* Over the reals all numbers are finite; nothing is concluded from it. */
/*@
  assigns \nothing;
  ensures finite: \result != 0 <==> finite(x);
*/
int isfinite(double x);

/* Over the reals no number is a NaN; nothing is concluded from it. */
/*@ assigns \nothing; */
int isnan(double x);

/*@
  assigns \nothing;
  ensures power: \result == e(x) - 1.0;
  ensures not_negative: x >= 0.0 ==> \result >= 0.0;
*/
double expm1(double x);

/*@
  requires above: x > -1.0;
  assigns \nothing;
  ensures logarithm: e(\result) == 1.0 + x;
  ensures named: \result == ln_of(1.0 + x);
  ensures not_negative: x >= 0.0 ==> \result >= 0.0;
  ensures negative: x <= 0.0 ==> \result <= 0.0;
*/
double log1p(double x);

/*@
  requires base: x >= 0.0;
  assigns \nothing;
  ensures not_negative: \result >= 0.0;
  ensures named: \result == power_of(x, y);
*/
double pow(double x, double y);

/*@
  assigns \nothing;
  ensures root: x >= 0.0 ==> \result * \result == x && \result >= 0.0;
  ensures named: \result == root_of(x);
*/
double sqrt(double x);

/*@
  assigns \nothing;
  ensures named: \result == cos_of(x);
*/
double cos(double x);

/*@
  assigns \nothing;
  ensures named: \result == sin_of(x);
*/
double sin(double x);

/*@
  assigns \nothing;
  ensures named: \result == erfc_of(x);
*/
double erfc(double x);

/*@
  assigns \nothing;
  ensures magnitude: \result == (x >= 0.0 ? x : -x);
*/
double fabs(double x);

/*@
  assigns \nothing;
  ensures larger: \result == \max(x, y);
*/
double fmax(double x, double y);

/*@
  assigns \nothing;
  ensures smaller: \result == \min(x, y);
*/
double fmin(double x, double y);

#endif
