/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of tolerance share. */
#ifndef CHUNKPROOF_REF_TOLERANCE_INTERNAL_H
#define CHUNKPROOF_REF_TOLERANCE_INTERNAL_H

#include <math.h>
#include <stddef.h>

#include "chunkproof/softmax.h" /* e and product, for the proofs */
#include "chunkproof/tolerance.h"

#ifdef __FRAMAC__
#include "proofs/logic/tolerance_internal.h"
#endif

/* ---- Arithmetic that rounds upwards ----
 *
 * Each result is at least that of the operation over the reals. Rounding to nearest loses at most
 * half a unit in the last place, 2^-53 of the result and a little; a product below the normal
 * numbers loses up to 2^-1075, a sum there nothing. What is added is more than twice that, so that
 * it survives its own roundings. Zero stays zero. An example: up_plus(1, 0) = 1 + 2^-51. */
/*@
  assigns \nothing;
  ensures upwards: x + y <= \result;
*/
static inline double up_plus(double x, double y) {
    double sum = x + y;
    return sum + 0x1p-51 * fabs(sum);
}

/* What a product or a quotient gave, unless it is exactly 0. */
/*@
  assigns \nothing;
  ensures upwards: x <= \result;
*/
static inline double up(double x) {
    return x + (0x1p-51 * fabs(x) + 0x1p-1074);
}

/*@
  assigns \nothing;
  ensures upwards: product(x, y) <= \result;
  ensures not_negative: 0.0 <= x && 0.0 <= y ==> 0.0 <= \result;
*/
static inline double up_times(double x, double y) {
    double product = x * y;
    return product == 0.0 && (x == 0.0 || y == 0.0) ? 0.0 : up(product);
}

/* x is the result of exp, expm1, log or log1p, which a library computes within 2^-50 of their
 * values; they are 0 only where they are exactly 0, or where exp underflows. */
/*@
  assigns \nothing;
  ensures upwards: x <= \result;
*/
static inline double up_function(double x) {
    return x == 0.0 ? 0.0 : x + (0x1p-49 * fabs(x) + 0x1p-1074);
}

/* x is a sum of products, none of them negative. Each has passed through at most `roundings`
 * roundings, and there are at most as many products; roundings <= 2^22. */
/*@
  requires ok: 0.0 <= x && 0 <= roundings;
  assigns \nothing;
  ensures upwards: x <= \result;
*/
static inline double up_sum(double x, int roundings) {
    return up_times(up_plus(x, roundings * 0x1p-1074), 1.0 + roundings * 0x1p-52);
}

/* NUM-6, what is the same for all scores of a row: one is off by at most relative * magnitude +
 * lost + tiny. */
struct cp_score_bound {
    double relative, lost, tiny;
};

/*@
  requires valid: \valid_read(a);
  requires ok: score_arithmetic_ok(*a) && 0 <= d;
  assigns \nothing;
  ensures relative: 0.0 <= score_relative(*a) <= \result.relative;
  ensures lost: 0.0 <= product(score_lost(*a, scale, d), score_sums(*a)) <= \result.lost;
  ensures num_6_tiny: \result.tiny == a->scale_tiny;
*/
struct cp_score_bound cp_tolerance_score_bound(const struct cp_score_arithmetic *a, double scale,
                                               int d);

/*@
  requires ok: 0.0 <= bound.relative && 0.0 <= bound.lost && 0.0 <= bound.tiny;
  requires not_negative: 0.0 <= magnitude;
  assigns \nothing;
  ensures num_6: 0.0 <= product(bound.relative, magnitude) + bound.lost + bound.tiny <= \result;
*/
static inline double cp_tolerance_of_score(struct cp_score_bound bound, double magnitude) {
    return up_plus(up_plus(up_times(bound.relative, magnitude), bound.lost), bound.tiny);
}

/* Where the row of a key begins in k and v. */
/*@
  requires size: 0 <= j < CP_TOLERANCE_MOST && 0 <= d <= CP_TOLERANCE_MOST;
  assigns \nothing;
  ensures place: \result == row_at(j, d);
*/
ptrdiff_t cp_tolerance_row_begin(int j, int d);

/* NUM-5, what sums and stores lose: (1 + u)^k (1 + v)^l - 1, rounded upwards. */
/*@
  requires ok: 0.0 <= u && 0 <= k && 0.0 <= v && 0 <= l;
  assigns \nothing;
  ensures num_5: 0.0 <= power(1.0 + u, k) * power(1.0 + v, l) - 1.0 <= \result;
  ensures not_negative: 0.0 <= \result;
*/
double cp_tolerance_growth(double u, int k, double v, int l);

#endif
