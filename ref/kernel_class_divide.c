/* SPDX-License-Identifier: Apache-2.0 */
/* What divisions make of a class (GATE-2, GATE-15, NUM-22). An example: 1,000 keys in 4 partial
 * results, each divided; scores up to 5, u = 2^-24 and u_part = 0.
 *
 *   above    ln 1001 = 6.9 and a little: a log-sum-exp lies so far above the largest score at most
 *   below    some 2^-16: it falls by no more than it is rounded
 *   tiny     that of P times exp(-6.9): weights are made before, at the maximum */
#include <math.h>

#include "chunkproof/kernel_class.h"
#include "tolerance_internal.h"

#define MOST_GROWTH 600.0   /* as a logarithm: beyond it nothing is claimed */
#define MOST_SLIP   0x1p20  /* so far that nothing is claimed */
#define OF_LSE      0x1p-21 /* 8 units of binary32: a logarithm, a sum, a product, an exponential */

/*@
  logic real division_with(struct cp_kernel_class c, real drift) =
    compound(c.divide_error, c.epsilon > 0.0 ?
      compound(product(c.epsilon, grown(drift + c.above)), unit_before(c)) : 0.0);
*/

/*@
  requires valid: \valid_read(declared);
  assigns \nothing;
  ensures unit: 0.0 <= \result.unit == unit_before(*declared);
  ensures tiny: 0.0 <= \result.tiny == tiny_before(*declared);
*/
static struct cp_format format_of_products(const struct cp_kernel_class *declared) {
    return cp_class_format(declared, declared->score == CP_SUM_FP64 ? CP_FP64 : CP_FP32, 0);
}

/* How much a sum of the weights of one row may have grown, and the weight of its largest score have
 * shrunk, in all changes: exp() of that. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts) && 0.0 <= largest_score;
  assigns \nothing;
  ensures drift: 0.0 <= drift_of(*a, *counts, largest_score) <= \result;
*/
static double drift_upwards(const struct cp_arithmetic *a, const struct cp_counts *counts,
                            double largest_score) {
    double of_reference = up_times(2.0 * up_plus(a->u_move, a->u_ref), up_plus(largest_score, 1.0));
    double each = up_plus(up_plus(up_plus(a->eps, a->u_n), a->u_part), of_reference);
    return up_times(counts->changes + 1.0, each);
}

/*@
  assigns \nothing;
  ensures grown: 0.0 <= grown(x) <= \result;
*/
static double exp_upwards(double x) {
    return up_function(exp(fmin(x, MOST_GROWTH)));
}

/* Of the division itself, and of what is added to n, which is at least the weight of the largest
 * score, and as much smaller as the reference is above the maximum. */
/*@
  requires valid: \valid_read(declared);
  requires ok: divides_ok(*declared) && 0.0 <= drift;
  assigns \nothing;
  ensures division: 0.0 <= division_with(*declared, drift) <= \result;
*/
static double division_upwards(const struct cp_kernel_class *declared, double drift) {
    double error = declared->divide_error;
    if (declared->epsilon > 0.0) {
        double share = up_times(declared->epsilon, exp_upwards(up_plus(drift, declared->above)));
        double rounded = cp_class_compound(share, format_of_products(declared).unit);
        error = cp_class_compound(error, rounded);
    }
    return error;
}

/* Weights are divided by n, which is at most the keys but for the drift and what additions err.
 * Times n, each is a weight that was rounded with so much larger a tiny. */
/*@
  requires valid: \valid_read(declared) && \valid_read(counts) && \valid(a);
  requires apart: \separated(a, declared, counts);
  requires ok: divides_ok(*declared) && arithmetic_ok(*a) && counts_ok(*counts);
  requires sizes: 0 <= n && 0.0 <= drift;
  assigns a->weights.unit, a->weights.tiny, a->eta_o;
  ensures ok: arithmetic_ok(*a);
  ensures unit: compound(\old(a->weights.unit), compound(unit_before(*declared),
    declared->divide_error)) <= a->weights.unit;
  ensures tiny: product(product(n, grown(drift + product(counts->depth_n, a->u_n))),
    \old(a->weights.tiny) + 2.0 * tiny_before(*declared)) <= a->weights.tiny;
  ensures sum: product(product(n, grown(drift + product(counts->depth_n, a->u_n))),
    \old(a->eta_o)) <= a->eta_o;
*/
static void normalise(const struct cp_kernel_class *declared, int n, double drift,
                      const struct cp_counts *counts, struct cp_arithmetic *a) {
    double of_sum = up_plus(drift, up_times(counts->depth_n, a->u_n));
    double most = up_times(n, exp_upwards(of_sum));
    struct cp_format quotient = format_of_products(declared);
    double of_quotient = cp_class_compound(quotient.unit, declared->divide_error);
    a->weights.tiny = up_times(most, up_plus(a->weights.tiny, 2.0 * quotient.tiny));
    a->weights.unit = cp_class_compound(a->weights.unit, of_quotient);
    a->eta_o = up_times(most, a->eta_o);
}

/* Where parts are divided, o or n is off by as much as a division errs. */
void cp_class_divide(const struct cp_kernel_class *declared, int n, double largest_score,
                     const struct cp_counts *counts, struct cp_arithmetic *a) {
    double drift = drift_upwards(a, counts, largest_score);
    double error = division_upwards(declared, drift);
    /*@ assert sum: 0.0 <= most_of_sum(*a, *counts, n, largest_score) <=
          product(n, grown(drift + product(counts->depth_n, a->u_n))); */
    /*@ assert tiny: product(most_of_sum(*a, *counts, n, largest_score), a->weights.tiny + 2.0 *
          tiny_before(*declared)) <= product(product(n, grown(drift + product(counts->depth_n,
          a->u_n))), a->weights.tiny + 2.0 * tiny_before(*declared)); */
    /*@ assert eta: product(most_of_sum(*a, *counts, n, largest_score), a->eta_o) <=
          product(product(n, grown(drift + product(counts->depth_n, a->u_n))), a->eta_o); */
    if (declared->divides != 0) {
        a->u_part = up_plus(a->u_part, error);
    } else if (declared->normalises) {
        normalise(declared, n, drift, counts, a);
        a->u_div = declared->epsilon > 0.0 ? error : 0.0;
        a->eta_div = 0.0;
    } else {
        a->u_div = cp_class_compound(a->u_div, error);
    }
}

/* A reference that is a log-sum-exp, m + ln n. It is above the largest score by the logarithm of
 * the keys at most, and by what all additions and changes on the way have added. It is below the
 * reference before by little: n is not below the weight of the largest score of its state, which a
 * sum of numbers that are not negative never falls under, however it is rounded; and that weight
 * was 1 but for its exponential and the factors of the changes since the last division. */
double cp_class_divide_at_once(int n, double largest_score, int since,
                               const struct cp_counts *counts, struct cp_arithmetic *a) {
    double log_n = up_function(log1p(n)), size = up_plus(largest_score, 2.0 * log_n);
    double weight = a->rounded_sum ? 2.0 * a->weights.unit : 0.0, itself = OF_LSE * size;
    double unit = up_plus(a->u_n, a->u_part), factor = up_plus(a->eps, unit);
    double error = fmax(a->eps, OF_LSE * fmax(1.0, log_n));
    double of_additions = up_times(2.0 * unit, counts->depth_n);
    double of_changes = up_times(counts->changes + 1.0, up_plus(2.0 * error, itself));
    double fallen = up_plus(error, up_times(since + 1.0, factor));
    a->below = up_plus(up_plus(2.0 * fallen, weight), itself);
    a->above = up_plus(up_plus(up_plus(log_n, of_additions), weight), of_changes);
    a->kappa = up_times(a->kappa, up_plus(1.0, a->weights.tiny));
    a->weights.tiny = up_times(a->weights.tiny, up_function(exp(-a->above)));
    a->eps = error;
    a->u_move = fmax(a->u_move, 2.0 * fmax(0x1p-24, a->u_n));
    a->u_div = 0.0;
    a->eta_div = 0.0;
    return up_plus(a->eps, up_times(a->u_move, size));
}

/* Rounded to 16 bits, it is off by a part of itself: it is as far from the largest score as
 * references are, and as it has slipped before. */
double cp_class_slip(struct cp_format lse, int times, double largest_score,
                     struct cp_arithmetic *a) {
    double size = up_plus(up_plus(largest_score, a->above), a->below), each = MOST_SLIP;
    if (times * lse.unit < 0.5) {
        double left = (1.0 - times * lse.unit) * (1.0 - 0x1p-51), off = up_times(lse.unit, size);
        //@ assert left: 0.25 < left <= 1.0 - product(times, lse.unit);
        each = fmax(up(off / left), lse.tiny);
        //@ assert quotient: 0.0 <= off <= product(each, left);
        //@ assert rises: product(each, left) <= product(each, 1.0 - product(times, lse.unit));
        //@ assert size: product(lse.unit, largest_score + a->above + a->below) <= off;
    }
    double slipped = up_times(times, each);
    a->score.scale_tiny = up_plus(a->score.scale_tiny, slipped);
    a->eps = up_plus(a->eps, up_times(up_plus(a->u_ref, 2.0 * a->u_move), slipped));
    return each;
}
