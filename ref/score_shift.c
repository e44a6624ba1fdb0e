/* SPDX-License-Identifier: Apache-2.0 */
/* Shifts of scores and their errors (NUM-15). An example: a kernel in binary32, u = 2^-24, whose
 * tanh is within 2u, caps the score 10 at 20; then it adds the bias -3. sigma is 40u.
 *
 *   step   score                     what a kernel's may be off                     in u
 *   cap    20 tanh(10 / 20) = 9.24   ((1 + u)^5 (1 + 2u) - 1)(9.24 + 40u)           64.7
 *   bias   6.24                      (1 + u)^3 ((1 + u)^3 - 1) 3                    9.0
 *                                    ((1 + u)^3 - 1)(6.24 + 40u + 64.7u)            18.7
 *   shift  6.24 - 10 = -3.76                                                        92.4
 *
 * Why no error comes out too small. What a kernel may be off is a sum of products of numbers that
 * are not negative, and each operation rounds upwards (tolerance_internal.h). The formula has the
 * exact scores in it. They are near those computed here:
 *   - The score given may be off by score_error. A change moves two scores no further apart, so
 *     each later score is off by as much, plus what is rounded here (`off`).
 *   - A sum is rounded by at most 2^-53 of the result, and a bias that binary64 computed is off by
 *     2^-53 of itself, or by 2^-1075.
 *   - The argument of tanh, tanh (within 8 * 2^-53, tolerance_internal.h) and the product are off
 *     by a factor of less than 1 + 2^-49, and by some 2^-1074, which the cap multiplies.
 * The shift is off by `off`, by the rounding of the difference, and by score_error where there is a
 * cap: it is the shift of the score given, not of the exact one. */
#include "chunkproof/score_shift.h"

#include <math.h>

#include "tolerance_internal.h"

#define LARGEST_UNIT 0.25      /* three roundings then make less than 1 of 1 */
#define UNIT         0x1p-53   /* of binary64 */
#define ROUNDED      0x1p-52   /* of a sum: more than it is off */
#define CAPPED       0x1p-49   /* of a capped score: more than it is off */
#define FAINTEST     0x1p-1072 /* more than all that underflows */

/* A score on its way. */
struct changed {
    double value; /* as it is computed here */
    double off;   /* how far from the change of the score given */
    double error; /* how far a kernel's may be off, beyond sigma */
    int sure;     /* 0: beyond binary64 */
};

/* What is the same on the whole way. */
struct way {
    struct cp_shift_arithmetic of;
    double score_error, sigma;
};

/*@
  predicate way_ok(struct way w) =
    shift_arithmetic_ok(w.of) && 0.0 <= w.score_error && 0.0 <= w.sigma;
*/

/* At least the size of a kernel's score before its next roundings; the exact score is near s. */
/*@
  requires valid: \valid_read(way);
  requires ok: way_ok(*way) && 0.0 <= s.off && 0.0 <= s.error;
  assigns \nothing;
  ensures size: 0.0 <= absolute(s.value) + way->score_error + (way->sigma + s.error) <= \result;
*/
static double largest_of(const struct way *way, struct changed s) {
    double exact = up_plus(up_plus(fabs(s.value), s.off), way->score_error);
    return up_plus(exact, up_plus(way->sigma, s.error));
}

/*@
  requires valid: \valid_read(way) && \valid_read(change) && \separated(way, change);
  requires ok: way_ok(*way) && score_change_ok(*change) && 0.0 <= s.off && 0.0 <= s.error;
  assigns \nothing;
  ensures value: \result.value == after_cap(*change, s.value);
  ensures off: 0.0 <= s.off <= \result.off && 0.0 <= s.error <= \result.error;
  ensures sure: s.sure == 0 ==> \result.sure == 0;
  ensures growth: change->cap != 0.0 ==> 0.0 <= growth_of_cap(way->of);
  ensures num_15: s.error <= capped(way->of, *change, s.value, s.error, way->score_error,
    way->sigma) <= \result.error;
*/
static struct changed cap(const struct way *way, const struct cp_score_change *change,
                          struct changed s) {
    double most = change->cap;
    if (most == 0.0) {
        return s;
    }
    const struct cp_shift_arithmetic *of = &way->of;
    double relative = cp_tolerance_growth(of->unit, 5, of->tanh_error, 1);
    //@ assert relative: 0.0 <= growth_of_cap(way->of) <= relative;
    double product = up_plus(1.0, cp_tolerance_growth(of->unit, 2, 0.0, 0));
    //@ assert product: 0.0 <= 1.0 + growth_of(way->of, 2) <= product;
    double argument = up_times(up_plus(1.0, of->tanh_error), of->tiny);
    double lost = up_times(most, up_plus(argument, of->tanh_absolute));
    double x = s.value / most;
    double tangent = tanh(x);
    //@ assert tangent: tangent == 1.0 - 2.0 / (e(2.0 * x) + 1.0);
    struct changed t = {most * tangent, s.off, s.error, s.sure && isfinite(x)};
    //@ assert capped: t.value == after_cap(*change, s.value);
    t.off = up_plus(
        t.off, up_plus(up_times(CAPPED, fabs(t.value)), up_times(FAINTEST, up_plus(1.0, most))));
    double of_score = up_times(relative, largest_of(way, t));
    /*@ assert of_score: 0.0 <= product(growth_of_cap(way->of), absolute(t.value) +
          way->score_error + (way->sigma + s.error)) <= of_score; */
    //@ assert lost: 0.0 <= lost_of_cap(way->of, most) <= lost;
    /*@ assert of_argument: 0.0 <= product(lost_of_cap(way->of, most), 1.0 + growth_of(way->of, 2))
          <= product(lost, product); */
    t.error = up_plus(up_plus(t.error, of_score), up_plus(up_times(lost, product), of->tiny));
    return t;
}

/*@
  requires valid: \valid_read(way) && \valid_read(change) && \separated(way, change);
  requires ok: way_ok(*way) && score_change_ok(*change) && 0.0 <= s.off && 0.0 <= s.error;
  assigns \nothing;
  ensures value: \result.value == after_bias(*change, s.value);
  ensures off: 0.0 <= s.off <= \result.off && 0.0 <= s.error <= \result.error;
  ensures sure: s.sure == 0 ==> \result.sure == 0;
  ensures growth: change->without_bias == 0 ==> 0.0 <= growth_of(way->of, 3);
  ensures num_15: s.error <= biased(way->of, *change, s.value, s.error, way->score_error,
    way->sigma) <= \result.error;
*/
static struct changed add(const struct way *way, const struct cp_score_change *change,
                          struct changed s) {
    double bias = change->bias;
    if (change->without_bias) {
        return s;
    }
    const struct cp_shift_arithmetic *of = &way->of;
    double relative = cp_tolerance_growth(of->unit, 3, 0.0, 0);
    double here = up_plus(up_times(UNIT, fabs(bias)), FAINTEST);
    double size = up_plus(fabs(bias), here);
    double lost = up_times(up_plus(1.0, relative), up_plus(up_times(relative, size), of->tiny));
    struct changed t = {s.value + bias, s.off, s.error, s.sure};
    t.off = up_plus(up_plus(t.off, here), up_times(ROUNDED, fabs(t.value)));
    double of_sum = up_times(relative, largest_of(way, t));
    //@ assert relative: 0.0 <= growth_of(way->of, 3) <= relative;
    /*@ assert of_bias: 0.0 <= product(growth_of(way->of, 3), absolute(bias)) <=
          product(relative, size); */
    /*@ assert lost: 0.0 <= product(1.0 + growth_of(way->of, 3), product(growth_of(way->of, 3),
          absolute(bias)) + way->of.tiny) <= lost; */
    /*@ assert of_sum: 0.0 <= product(growth_of(way->of, 3), absolute(t.value) +
          way->score_error + (way->sigma + s.error)) <= of_sum; */
    t.error = up_plus(up_plus(t.error, lost), up_plus(of_sum, of->tiny));
    return t;
}

/* A shift with its error, where both are numbers of binary64. */
/*@
  requires ok: 0.0 <= error;
  assigns \nothing;
  ensures num_14: (\result.shift == shift && \result.error == error) ||
    (\result.shift == 0.0 && !finite(\result.error));
  ensures num_14_sure: !sure ==> !finite(\result.error);
*/
static struct cp_shift claim(int sure, double shift, double error) {
    int is_claimed = sure && isfinite(shift) && isfinite(error);
    return (struct cp_shift){is_claimed ? shift : 0.0, is_claimed ? error : INFINITY};
}

struct cp_shift cp_shift_of(const struct cp_shift_arithmetic *arithmetic,
                            const struct cp_score_change *change, double score, double score_error,
                            double sigma) {
    struct way way = {*arithmetic, score_error, sigma};
    struct changed given = {score, 0.0, 0.0, arithmetic->unit <= LARGEST_UNIT}, s;
    if (change->bias_first) {
        struct changed sum = add(&way, change, given);
        s = cap(&way, change, sum);
        /*@ assert first: 0.0 <= biased(*arithmetic, *change, score, 0.0, score_error, sigma) <=
              sum.error; */
        /*@ assert rises: capped(*arithmetic, *change, sum.value,
              biased(*arithmetic, *change, score, 0.0, score_error, sigma), score_error, sigma) <=
              capped(*arithmetic, *change, sum.value, sum.error, score_error, sigma); */
    } else {
        struct changed first = cap(&way, change, given);
        s = add(&way, change, first);
        /*@ assert first: 0.0 <= capped(*arithmetic, *change, score, 0.0, score_error, sigma) <=
              first.error; */
        /*@ assert rises: biased(*arithmetic, *change, first.value,
              capped(*arithmetic, *change, score, 0.0, score_error, sigma), score_error, sigma) <=
              biased(*arithmetic, *change, first.value, first.error, score_error, sigma); */
    }
    int is_capped = change->cap != 0.0;
    double shift = is_capped ? s.value - score : change->bias;
    double off = up_plus(s.off, up_times(ROUNDED, fabs(shift)));
    double of_score = is_capped ? score_error : 0.0;
    return claim(s.sure, shift, up_plus(s.error, up_plus(off, of_score)));
}

struct cp_shift cp_shift_of_sink(const struct cp_shift_arithmetic *arithmetic, double sink) {
    double relative = cp_tolerance_growth(arithmetic->unit, 3, 0.0, 0);
    double twice = up_plus(2.0, cp_tolerance_growth(arithmetic->unit, 2, 0.0, 0));
    double error = up_plus(up_times(relative, fabs(sink)), up_times(twice, arithmetic->tiny));
    return claim(1, sink, error);
}
