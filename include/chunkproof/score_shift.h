/* SPDX-License-Identifier: Apache-2.0 */
/* What changing a score costs (NUM-15, spec/tolerance.md). A cap, a bias by distance and a sink
 * change scores before they are weighed. The bound of a row takes each change as a shift and its
 * error (NUM-14, tolerance.h). Here are both, for a kernel that changes scores in a usual way:
 *
 *   cap    argument of tanh: the score divided by the cap, or times a rounded reciprocal, or the
 *          unscaled score times a rounded scale / cap: three roundings besides those of the score;
 *          the product of tanh with the cap, or with the rounded cap log2(e): two roundings
 *   bias   position difference, rounded once; times the slope, or times the rounded
 *          slope log2(e): three roundings in all; the addition, and a conversion of the sum to
 *          another base (a rounded constant, a product): three roundings
 *   sink   rounded to the kernel's type, and converted: three roundings
 *
 * All numbers are in nats. No error is too small because binary64 rounds, too: score_shift.c says
 * why. */
#ifndef CHUNKPROOF_SCORE_SHIFT_H
#define CHUNKPROOF_SCORE_SHIFT_H

#include "chunkproof/tolerance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of each operation that changes a score: the result y of x has |y - x| <= unit |x| + tiny. A
 * constant is off by unit alone. tanh is within tanh_error |tanh x| + tanh_absolute of tanh x. All
 * are >= 0; from a unit above 1/4 on nothing is claimed. A tanh that is made of exponentials is
 * good near 0 by tanh_absolute alone. */
struct cp_shift_arithmetic {
    double unit, tiny;
    double tanh_error, tanh_absolute;
};

/* What is done to a score: a cap and a bias, in this order or the other. */
struct cp_score_change {
    double cap;       /* > 0; 0: none */
    int bias_first;   /* 1: the sum of score and bias is capped */
    double bias;      /* slope times distance, exact or as binary64 computes it */
    int without_bias; /* 1: a kernel adds nothing, not even 0; bias is 0 */
};

/* For a row of cp_tolerance(): shift[j] and shift_error[j]. */
struct cp_shift {
    double shift, error;
};

#ifdef __FRAMAC__
#include "proofs/logic/score_shift.h"
#endif

/* NUM-15, of the score of a key. `score` is the one without the change, as binary64 computes it,
 * and score_error >= 0 is how far that may be from the exact one. sigma >= 0 is the error of a
 * kernel's score before the change (NUM-6, cp_score_error()).
 *
 * The shift is the changed score minus the score. The error is what a kernel's changed score may be
 * off beyond sigma, plus how far the shift itself may be off. Where it is beyond binary64, nothing
 * is claimed: shift 0, error INFINITY. */
/*@
  requires valid: \valid_read(arithmetic) && \valid_read(change);
  requires apart: \separated(arithmetic, change);
  requires ok: shift_arithmetic_ok(*arithmetic) && score_change_ok(*change);
  requires errors: 0.0 <= score_error && 0.0 <= sigma;
  assigns \nothing;
  ensures num_15_shift: !finite(\result.error) ||
    \result.shift == changed_score(*change, score) - score;
  ensures num_15: !finite(\result.error) ||
    change_error(*arithmetic, *change, score, score_error, sigma) +
    (change->cap == 0.0 ? 0.0 : score_error) <= \result.error;
  ensures num_15_unit: arithmetic->unit > 0.25 ==> !finite(\result.error);
  ensures num_14_ok: is_bound(\result.error);
*/
struct cp_shift cp_shift_of(const struct cp_shift_arithmetic *arithmetic,
                            const struct cp_score_change *change, double score, double score_error,
                            double sigma);

/* NUM-15, of a sink: a key whose rows in k and v are zeros. Its shift is its score. */
/*@
  requires valid: \valid_read(arithmetic);
  requires ok: shift_arithmetic_ok(*arithmetic);
  assigns \nothing;
  ensures num_15_shift: !finite(\result.error) || \result.shift == sink;
  ensures num_15: !finite(\result.error) || error_of_sink(*arithmetic, sink) <= \result.error;
  ensures num_14_ok: is_bound(\result.error);
*/
struct cp_shift cp_shift_of_sink(const struct cp_shift_arithmetic *arithmetic, double sink);

#ifdef __cplusplus
}
#endif

#endif
