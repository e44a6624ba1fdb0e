/* SPDX-License-Identifier: Apache-2.0 */
/* The bound (NUM-9 to NUM-12), term by term. An example: two keys of one number each, q = 1, k = 0
 * and ln 2, v = 3 and 6, scale 1. Attention is (1 * 3 + 2 * 6) / 3 = 5. The class is
 * cp_arithmetic_fp32() with weights and output in binary16; one chunk, so no change of the
 * reference (C = 0).
 *
 *   step          what                               key 0     key 1     row
 *   1 scores      s_j                                0         0.693
 *                 slack, the largest error of one                        2.1e-7
 *                 top, high, low                                         0.693, 0.693, -2.1e-7
 *                 rise, exp(high - top)                                  1
 *   2 growth      S^C; G_n - 1; G_o - 1                                  1; 1.2e-7; 1.8e-7
 *   3 weights     w_j = exp(s_j - top), W            0.5       1         1.5
 *                 H_j, shared by n and o             8.0e-8    3.3e-7    4.1e-7
 *                 T_j, in o alone                    2.4e-4    4.9e-4
 *   4 left        W - sum H_j - E_n                                      1.5
 *   5 columns     H_j |v_j - 5| + T_j |v_j|          7.3e-4    2.9e-3
 *                 E, their sum / left                                    2.44e-3
 *   6 output      5 in binary16 adds 2^-11 * 5                           2.44e-3
 *                 the bound                                              4.89e-3
 *
 * T_j is half a unit of binary16 of each weight; nearly all of this bound is two roundings to
 * binary16.
 *
 * The scale. All is divided by exp(top), top the largest score, so that W is at least about 1
 * wherever the references of a kernel lie. What NUM-9 has in the scale of exp(high) is multiplied
 * by `rise`.
 *
 * Why no bound comes out too small. The bound is computed in binary64, which rounds, too. Errors
 * only ever add up, so each operation on them rounds upwards (tolerance_internal.h), and that on
 * `left` downwards. What remains is what is computed as attention is, to nearest: scores, weights,
 * their sum W, and `expected`. Let z_j bound the error of score j (NUM-6), Z be the largest z_j,
 * u = 2^-53 and D = high - low, at most 708. Nothing is claimed when Z > 2^-30, or when n or
 * d > 2^20. A score that is shifted is rounded once more, by at most u |s| before and so by less
 * than 2u |s| after: z_j has this.
 *   - A weight is off by a factor between exp(-t) and exp(t), t = Z + (D + 10) u: the score, the
 *     difference, and exp, which is within 8u. A weight whose argument is below -708 becomes FAINT,
 *     which is more than it is, and off by no more than FAINT.
 *   - W is off by such a factor and one of 1 + n u: by less than `lack` W / 2, with
 *     lack = 4 Z + 4 (D + n + 8) u. So W (1 - lack) and W (1 + lack) enclose it, and
 *     w_j (1 + lack) is above w_j.
 *   - |v_ji - o_i| with o_i computed: the quotient is off by at most (exp(2t) - 1) A_i, with
 *     A_i = sum w_j |v_ji| / W over the weights that are not faint, and by (2n + 4) u A_i for
 *     products, sums and the division: together by less than `lack` A_i. A faint weight adds
 *     FAINT |v_ji|, and products that underflow n 2^-1074 at most. This is `spare`.
 *   - high, low and slack are computed from scores: each is moved outwards by Z.
 *   - What overflows does not get lost: the score of a key, its errors and the references go into
 *     its H_j, and all H_j into `left`. So `left` is finite only where all of these are. */
#include "chunkproof/tolerance.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "tolerance_row.h"

#define LARGEST_Z   0x1p-30
#define LEAST_SCORE (-708.0) /* exp() of less may be subnormal: FAINT stands for it */
#define UNIT        0x1p-53

/* NUM-7: what the references of a kernel lie between, from the largest and the smallest score and
 * the largest errors. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid(b);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts);
  requires scored: 0.0 <= b->largest_z && 0.0 <= b->slack && b->low <= b->top;
  assigns b->high, b->low, b->slack, b->h, b->rise;
  ensures references: references_ok(*b) && \old(b->slack) <= b->slack;
  ensures num_7: references_from(*a, counts->changes, \old(*b), *b);
*/
static void set_references(const struct cp_arithmetic *a, const struct cp_counts *counts,
                           struct cp_row_bounds *b) {
    double beyond = up_plus(b->largest_z, b->slack), above = up_plus(beyond, a->above);
    double below = up_plus(beyond, up_times(counts->changes + 1.0, a->below));
    b->high = up_plus(b->top, above);
    b->low = -up_plus(-b->low, below);
    b->slack = up_plus(b->slack, a->below);
    b->h = fmax(fabs(b->low), fabs(b->high));
    b->rise = up_function(exp(above));
}

/* NUM-9: X_j after so many changes of the reference. */
/*@
  requires valid: \valid_read(a) && \valid_read(b);
  requires ok: arithmetic_ok(*a) && references_ok(*b) && 0 <= changes;
  requires scored: score <= b->high && 0.0 <= sigma;
  assigns \nothing;
  ensures num_9: stray(*a, *b, score, sigma, changes) <= \result;
  ensures not_negative: 0.0 <= \result;
*/
static double strays(const struct cp_arithmetic *a, const struct cp_row_bounds *b, double score,
                     double sigma, int changes) {
    double to_high = up_plus(up_plus(b->high, -score), b->largest_z);
    double along = up_plus(up_plus(sigma, to_high), up_times(2.0 * b->slack, changes + 1.0));
    //@ assert slack: 0.0 <= product(2.0 * b->slack, changes + 1.0);
    //@ assert way: 0.0 <= way(*b, score, sigma, changes) <= along;
    /*@ assert argument: 0.0 <= product(a->u_arg, way(*b, score, sigma, changes)) <=
          product(a->u_arg, along); */
    double once = up_plus(up_plus(sigma, up_times(a->u_arg, along)),
                          up_plus(up_times(a->u_ref, b->h), a->eps));
    double each = up_plus(a->eps, up_times(2.0 * a->u_move, b->h));
    //@ assert references: 0.0 <= product(a->u_ref, b->h) && 0.0 <= product(2.0 * a->u_move, b->h);
    //@ assert each: 0.0 <= a->eps + 2.0 * a->u_move * b->h <= each;
    /*@ assert moves: 0.0 <= product(changes, a->eps + 2.0 * a->u_move * b->h) <=
          product(changes, each); */
    return up_plus(once, up_times(changes, each));
}

/* NUM-9: R_j, how large a weight may have been before the reference moved away from it. */
/*@
  requires valid: \valid_read(a) && \valid_read(b);
  requires ok: arithmetic_ok(*a) && growth_ok(*b);
  requires scored: score <= b->high && 0.0 <= sigma;
  assigns \nothing;
  ensures num_9: 0.0 <= reach(*a, *b, stray(*a, *b, score, sigma, 0)) <= \result;
*/
static double reach_of(const struct cp_arithmetic *a, const struct cp_row_bounds *b, double score,
                       double sigma) {
    double first = strays(a, b, score, sigma, 0);
    double made = up_plus(up_function(exp(up_plus(b->slack, first))), a->kappa);
    //@ assert made: 0.0 <= e(b->slack + stray(*a, *b, score, sigma, 0)) + a->kappa <= made;
    double rounded = up_plus(up_times(made, up_plus(1.0, a->weights.unit)), a->weights.tiny);
    return up_times(rounded, b->stretch);
}

/* What changes of the reference lose of it; that may overflow where nothing is missing. */
/*@
  requires not_negative: 0.0 <= missing && 0 <= changes && 0.0 <= largest;
  assigns \nothing;
  ensures num_9: 0.0 <= product(product(missing, changes), largest) <= \result;
*/
static double lost_of(double missing, int changes, double largest) {
    double moved = up_times(missing, changes);
    //@ assert moved: 0.0 <= product(missing, changes) <= moved;
    return moved == 0.0 ? 0.0 : up_times(moved, largest);
}

/* What the format of weights loses. */
/*@
  requires valid: \valid_read(a) && \valid_read(b);
  requires ok: arithmetic_ok(*a) && growth_ok(*b) && 0.0 <= most && 0.0 <= missing;
  assigns \nothing;
  ensures num_9: 0.0 <= \max(product(a->weights.unit, most + missing),
    product(a->weights.tiny, b->rise)) <= \result;
*/
static double rounding_of(const struct cp_arithmetic *a, const struct cp_row_bounds *b, double most,
                          double missing) {
    return fmax(up_times(a->weights.unit, up_plus(most, missing)),
                up_times(a->weights.tiny, b->rise));
}

/* w_j to nearest; H_j, and T_j, the factor of |v_ji|: P_j + (G_o - 1)(w_j + H_j + P_j). */
struct key_bounds {
    double w, h, t;
};

/* NUM-9, from the score of a key and its error. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(b);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts) && growth_ok(*b);
  requires scored: score <= b->high && 0.0 <= sigma;
  assigns \nothing;
  ensures num_9: 0.0 < \result.w == weight_of(*b, score);
  ensures num_9_h: 0.0 <= common_error(*a, *b, score, sigma, counts->changes) <= \result.h;
  ensures num_9_t: 0.0 <= value_error(*a, *b, score, sigma, counts->changes) <= \result.t;
*/
static struct key_bounds weigh(const struct cp_arithmetic *a, const struct cp_counts *counts,
                               const struct cp_row_bounds *b, double score, double sigma) {
    double x = strays(a, b, score, sigma, counts->changes);
    double w = score - b->top < LEAST_SCORE ? FAINT : exp(score - b->top);
    double most = up_times(w, up_plus(1.0, b->lack)), missing = up_times(a->kappa, b->rise);
    double largest = reach_of(a, b, score, sigma);
    double rounding = rounding_of(a, b, most, missing);
    double lost = lost_of(missing, counts->changes, largest);
    double both = up_plus(up_plus(missing, lost), a->rounded_sum ? rounding : 0.0);
    double grown = up_function(exp(x)), gained = up_function(expm1(x));
    //@ ghost e_of_zero();
    //@ assert most: 0.0 <= product(w, 1.0 + b->lack) <= most && 0.0 <= missed(*a, *b) <= missing;
    /*@ assert rounding: 0.0 <= rounded_weight(*a, *b, w) <= rounding; */
    /*@ assert moved: 0.0 <= product(missed(*a, *b), counts->changes) <=
          product(missing, counts->changes); */
    /*@ assert lost: 0.0 <= lost(*a, *b, stray(*a, *b, score, sigma, 0), counts->changes) <=
          lost; */
    /*@ assert grown: 1.0 <= e(stray(*a, *b, score, sigma, counts->changes)) <= grown &&
          e(stray(*a, *b, score, sigma, counts->changes)) - 1.0 <= gained; */
    double h = up_plus(up_times(most, gained), up_times(both, grown));
    double p = a->rounded_sum ? 0.0 : up_times(up_plus(rounding, lost), grown);
    /*@ assert shared: 0.0 <= common_error_here(*a, *b, score, sigma, counts->changes, \true) <=
          h; */
    double in_o = up_times(b->growth_o, up_plus(up_plus(most, h), p));
    /*@ assert of_value: 0.0 <= value_error_here(*a, *b, score, sigma, counts->changes, \true) <=
          p + in_o; */
    return (struct key_bounds){w, h, up_plus(p, in_o)};
}

/* From a key's score and sigma in scratch to w_j, H_j, T_j, for each. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(row) && \valid_read(b);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires apart: \separated(a, counts, row, b, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires ok: arithmetic_ok(*a) && counts_ok(*counts) && growth_ok(*b);
  requires below: \forall integer j; 0 <= j < row->n_keys ==> row->scratch[j] <= b->high;
  requires errors: errors_until(row->scratch, row->n_keys, row->n_keys, b->slack);
  assigns row->scratch[0 .. 3 * row->n_keys - 1];
  ensures weighed: weighed(row->scratch, row->n_keys, row->n_keys);
  ensures num_9: \forall integer j; 0 <= j < row->n_keys ==>
    bounded{Pre,Post}(*a, *b, counts->changes, row->scratch, row->n_keys, j);
*/
static void compute_weights(const struct cp_arithmetic *a, const struct cp_counts *counts,
                            const struct cp_tolerance_row *row, const struct cp_row_bounds *b) {
    int n = row->n_keys;
    /*@ loop invariant range: 0 <= j <= n;
        loop invariant rest: \forall integer i; j <= i < n || n + j <= i < 2 * n ==>
          row->scratch[i] == \at(row->scratch[i], Pre);
        loop invariant weighed: weighed(row->scratch, n, j);
        loop invariant num_9: \forall integer i; 0 <= i < j ==>
          bounded{Pre,Here}(*a, *b, counts->changes, row->scratch, n, i);
        loop assigns j, row->scratch[0 .. 3 * row->n_keys - 1]; loop variant n - j; */
    for (int j = 0; j < n; j++) {
        struct key_bounds key = weigh(a, counts, b, row->scratch[j], row->scratch[n + j]);
        row->scratch[j] = key.w;
        row->scratch[n + j] = key.h;
        row->scratch[2 * n + j] = key.t;
    }
}

/* W, and the sum of H_j. */
/*@
  requires valid: \valid_read(row) && \valid(b);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires apart: \separated(row, b, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires weighed: weighed(row->scratch, row->n_keys, row->n_keys);
  assigns b->weights, b->shared;
  ensures sums: 0.0 < b->weights && 0.0 <= b->shared;
  ensures num_9: sums_ok{Pre}(*b, *row);
*/
static void sum_weights(const struct cp_tolerance_row *row, struct cp_row_bounds *b) {
    const double *w = row->scratch, *h = row->scratch + row->n_keys;
    double weights = 0.0, shared = 0.0;
    /*@ loop invariant range: 0 <= j <= row->n_keys;
        loop invariant sums: 0.0 <= weights && (0 < j ==> 0.0 < weights) && 0.0 <= shared;
        loop invariant num_9_w: weights == total_of(w, j);
        loop invariant num_9_h: total_of(h, j) <= shared;
        loop assigns j, weights, shared; loop variant row->n_keys - j; */
    for (int j = 0; j < row->n_keys; j++) {
        weights += w[j];
        shared = up_plus(shared, h[j]);
    }
    b->weights = weights;
    b->shared = shared;
}

/* N eta S^C G exp(high), of n or o. */
/*@
  requires valid: \valid_read(b);
  requires ok: 0.0 <= operations && 0.0 <= eta && growth_ok(*b) && 0.0 <= growth;
  assigns \nothing;
  ensures num_9: 0.0 <= tiny(*b, operations, eta, growth) <= \result;
*/
static double tiny_losses(const struct cp_row_bounds *b, double operations, double eta,
                          double growth) {
    double grown = up_times(b->stretch, up_plus(1.0, growth));
    //@ assert grown: 0.0 <= product(b->stretch, 1.0 + growth) <= grown;
    double most = up_times(operations, b->rise), both = up_times(most, grown);
    //@ assert most: 0.0 <= product(operations, b->rise) <= most;
    /*@ assert both: 0.0 <= product(product(operations, b->rise),
          product(b->stretch, 1.0 + growth)) <= product(most, grown) <= both; */
    return up_times(both, eta); /* the smallest last */
}

/* S^C, by the logarithm of S: x + ln(1 + kappa exp(-x)). A power of S itself would lose what S
 * loses C times over. */
/*@
  requires valid: \valid_read(a) && \valid_read(b);
  requires ok: arithmetic_ok(*a) && references_ok(*b) && 0 <= changes;
  assigns \nothing;
  ensures num_9: 0.0 <= power(stretched(*a, *b), changes) <= \result;
*/
static double stretch_of(const struct cp_arithmetic *a, const struct cp_row_bounds *b,
                         int changes) {
    double moved = up_plus(up_times(2.0 * a->u_move, b->h), a->eps);
    double argument = up_times(a->u_arg, fmax(up_plus(b->high, -b->low), 0.0));
    double x = up_plus(up_plus(b->slack, argument), moved);
    //@ assert x: 0.0 <= stretching(*a, *b) <= x;
    double shrunk = up_function(fmax(exp(-x), SMALLEST));
    double missing = up_function(log1p(up_times(a->kappa, shrunk)));
    double logarithm = up_plus(x, missing);
    //@ assert shrunk: product(a->kappa, e(-x)) <= product(a->kappa, shrunk);
    //@ ghost factor_of(x, missing, a->kappa);
    //@ assert factor: 0.0 <= stretched(*a, *b) <= e(logarithm);
    //@ ghost stretched_often(a, b, logarithm, changes);
    //@ assert often: product(changes, logarithm) == changes * logarithm;
    return up_function(exp(up_times(changes, logarithm)));
}

/* Steps 1 and 2: what does not rest on weights. Scratch gets scores and their errors. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(row) && \valid(b);
  requires valid_row: row_valid(*row) && size_ok(*row) && shifts_ok(*row);
  requires apart: \separated(a, counts, row, b, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts);
  requires empty: b->largest_z == 0.0 && b->slack == 0.0;
  assigns *b, row->scratch[0 .. 2 * row->n_keys - 1];
  ensures ok: growth_ok(*b);
  ensures num_6: \forall integer j; 0 <= j < row->n_keys ==> score_ok{Pre,Post}(*a, *row, j);
  ensures num_6_z: scored_to{Pre}(*row, b->largest_z);
  ensures num_7: references_of{Pre}(*a, counts->changes, *row, *b);
  ensures num_10_lack: b->lack == lack_of(*b, row->n_keys);
  ensures num_5: power(1.0 + a->u_n, counts->depth_n) * power(1.0 + a->u_part, counts->stores) -
    1.0 <= b->growth_n;
  ensures num_5_o: power(1.0 + a->u_o, counts->depth_o) * power(1.0 + a->u_part, counts->stores) -
    1.0 <= b->growth_o;
  ensures num_9_stretch: power(stretched(*a, *b), counts->changes) <= b->stretch;
  ensures below: \forall integer j; 0 <= j < row->n_keys ==> row->scratch[j] <= b->high;
  ensures errors: errors_until(row->scratch, row->n_keys, row->n_keys, b->slack);
*/
static void score_row(const struct cp_arithmetic *a, const struct cp_counts *counts,
                      const struct cp_tolerance_row *row, struct cp_row_bounds *b) {
    struct cp_arithmetic here = cp_arithmetic_fp64(row->head_dim);
    struct cp_score_bound of_here =
        cp_tolerance_score_bound(&here.score, row->scale, row->head_dim);
    struct cp_score_bound of_class = cp_tolerance_score_bound(&a->score, row->scale, row->head_dim);
    cp_tolerance_scores(row, of_here, of_class, b); /* 1 */
    //@ ghost struct cp_row_bounds scores = *b;
    /*@ assert sigma: \forall integer j; 0 <= j < row->n_keys ==>
          sigma_of{Pre}(a->score, *row, j) <= row->scratch[row->n_keys + j]; */
    set_references(a, counts, b);
    double span = fmin(fmax(b->high - b->low, 0.0), -LEAST_SCORE);
    b->lack = 4.0 * b->largest_z + 4.0 * UNIT * (span + row->n_keys + 8.0);
    b->stretch = stretch_of(a, b, counts->changes); /* 2 */
    b->growth_n = cp_tolerance_growth(a->u_n, counts->depth_n, a->u_part, counts->stores);
    b->growth_o = cp_tolerance_growth(a->u_o, counts->depth_o, a->u_part, counts->stores);
    //@ assert references: references_from(*a, counts->changes, scores, *b);
    /*@ assert scores: \forall integer j; 0 <= j < row->n_keys ==>
          scores.low <= score_of{Pre}(*row, j) <= b->top; */
    /*@ assert errors: \forall integer j; 0 <= j < row->n_keys ==>
          sigma_of{Pre}(a->score, *row, j) <= scores.slack; */
}

/* Step 4, and the sums of step 3: from w_j and H_j in scratch. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(row) && \valid(b);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires apart: \separated(a, counts, row, b, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires ok: arithmetic_ok(*a) && counts_ok(*counts) && growth_ok(*b);
  requires weighed: weighed(row->scratch, row->n_keys, row->n_keys);
  assigns b->weights, b->shared, b->most, b->least, b->lost_n, b->tiny_o, b->left;
  ensures ok: bounds_ok(*b);
  ensures num_9: sums_ok{Pre}(*b, *row);
  ensures num_9_most: product(b->weights, 1.0 + b->lack) <= b->most;
  ensures num_9_lost_n: product(b->growth_n, b->most + b->shared) +
    tiny(*b, counts->operations_n, a->eta_n, b->growth_n) <= b->lost_n;
  ensures num_9_tiny_o: tiny(*b, counts->operations_o, a->eta_o, b->growth_o) <= b->tiny_o;
*/
static void sum_row(const struct cp_arithmetic *a, const struct cp_counts *counts,
                    const struct cp_tolerance_row *row, struct cp_row_bounds *b) {
    sum_weights(row, b);
    //@ assert lack: 0.0 <= b->lack;
    b->most = up_times(b->weights, up_plus(1.0, b->lack));
    //@ assert most: product(b->weights, 1.0) <= b->most;
    b->least = -up_plus(-b->weights, up_times(b->weights, b->lack));
    b->lost_n = up_plus(up_times(b->growth_n, up_plus(b->most, b->shared)),
                        tiny_losses(b, counts->operations_n, a->eta_n, b->growth_n));
    b->tiny_o = tiny_losses(b, counts->operations_o, a->eta_o, b->growth_o);
    b->left = -up_plus(up_plus(b->shared, b->lost_n), -b->least); /* 4 */
}

/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(row);
  requires valid_row: row_valid(*row) && size_ok(*row) && shifts_ok(*row);
  requires apart: \separated(a, counts, row, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts);
  assigns row->scratch[0 .. 3 * row->n_keys - 1];
  ensures ok: bounds_ok(\result);
  ensures weighed: weighed(row->scratch, row->n_keys, row->n_keys);
  ensures num_9: row_ok{Pre,Post}(*a, *counts, *row, \result);
*/
static struct cp_row_bounds bound_row(const struct cp_arithmetic *a, const struct cp_counts *counts,
                                      const struct cp_tolerance_row *row) {
    struct cp_row_bounds b = {0};
    score_row(a, counts, row, &b);
    /*@ ghost struct cp_row_bounds then = b;
      scored: ; */
    compute_weights(a, counts, row, &b); /* 3 */
    sum_row(a, counts, row, &b);
    //@ assert references: references_of{Pre}(*a, counts->changes, *row, b);
    //@ assert growths: growths_ok(*a, *counts, b);
    //@ assert losses: losses_ok(*a, *counts, b);
    //@ assert alike: alike(then, b);
    /*@ assert then: \forall integer j; 0 <= j < row->n_keys ==> bounded{scored,Here}(*a, then,
          counts->changes, row->scratch, row->n_keys, j); */
    /*@ assert bounded: \forall integer j; 0 <= j < row->n_keys ==> bounded{scored,Here}(*a, b,
          counts->changes, row->scratch, row->n_keys, j); */
    /*@ assert scores: \forall integer j; 0 <= j < row->n_keys ==>
          score_ok{Pre,scored}(*a, *row, j); */
    /*@ assert from_score: \forall integer j; score_ok{Pre,scored}(*a, *row, j) ==>
          bounded{scored,Here}(*a, b, counts->changes, row->scratch, row->n_keys, j) ==>
          key_by{Pre,scored,Here}(*a, b, counts->changes, *row, j); */
    /*@ assert from_scores: \forall integer j; 0 <= j < row->n_keys ==>
          key_by{Pre,scored,Here}(*a, b, counts->changes, *row, j); */
    /*@ assert enough: \forall integer j; key_by{Pre,scored,Here}(*a, b, counts->changes, *row, j)
          ==> key_ok{Pre,Here}(*a, b, counts->changes, *row, j); */
    return b;
}

/* NUM-12: a row of no key, or of too many keys, gets zeros and infinite bounds. */
/*@
  requires size: 0 <= row->value_dim;
  requires valid: \valid_read(row) && \valid(expected + (0 .. row->value_dim - 1)) &&
    \valid(bound + (0 .. row->value_dim - 1));
  requires apart: \separated(row, expected + (0 .. row->value_dim - 1),
    bound + (0 .. row->value_dim - 1));
  assigns expected[0 .. row->value_dim - 1], bound[0 .. row->value_dim - 1];
  ensures num_12: \forall integer i; 0 <= i < row->value_dim ==>
    nothing_claimed(expected[i], bound[i]);
*/
static void claim_nothing(const struct cp_tolerance_row *row, double *expected, double *bound) {
    /*@ loop invariant range: 0 <= i <= row->value_dim;
        loop invariant nothing: \forall integer t; 0 <= t < i ==>
          nothing_claimed(expected[t], bound[t]);
        loop assigns i, expected[0 .. row->value_dim - 1], bound[0 .. row->value_dim - 1];
        loop variant row->value_dim - i; */
    for (int i = 0; i < row->value_dim; i++) {
        expected[i] = 0.0;
        bound[i] = INFINITY;
    }
}

/* Steps 5 and 6 for columns, and what is claimed of them (NUM-12). */
/*@
  requires valid: \valid_read(a) && \valid_read(row) && \valid_read(b);
  requires valid_row: row_valid(*row) && size_ok(*row) &&
    results_valid_for(*row, expected, bound);
  requires apart: ROW_APART(a, b, row, expected, bound);
  requires apart_row: results_apart_from(*row, expected, bound);
  requires ok: arithmetic_ok(*a) && bounds_ok(*b) && (sure ==> claimable(*b));
  requires weighed: weighed(row->scratch, row->n_keys, row->n_keys);
  assigns RESULTS_OF_ROW(row, expected, bound);
  ensures num_10: columns_claimed{Pre,Post}(*a, *b, *row, expected, bound);
  ensures num_10_bound: are_bounds(bound, row->value_dim);
*/
static void claim_columns(const struct cp_arithmetic *a, const struct cp_tolerance_row *row,
                          const struct cp_row_bounds *b, int sure, double *expected,
                          double *bound) {
    cp_tolerance_columns(a, row, b, expected, bound);
    /*@ loop invariant range: 0 <= i <= row->value_dim;
        loop invariant bounds: \forall integer t; 0 <= t < i ==> is_bound(bound[t]);
        loop invariant num_10: \forall integer t; 0 <= t < i ==>
          column_claimed{Pre}(*a, *b, *row, t, expected[t], bound[t]);
        loop invariant rest: \forall integer t; i <= t < row->value_dim ==>
          0.0 < b->left ==> is_bound(bound[t]) &&
            column_ok{Pre}(*a, *b, *row, t, expected[t], bound[t]);
        loop assigns i, bound[0 .. row->value_dim - 1]; loop variant row->value_dim - i; */
    for (int i = 0; i < row->value_dim; i++) {
        bound[i] = sure && !isnan(bound[i]) ? bound[i] : INFINITY;
    }
}

void cp_tolerance(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                  const struct cp_tolerance_row *row, double lse_error, double *expected,
                  double *bound, double *lse, double *lse_bound) {
    if (row->n_keys < 1 || row->n_keys > CP_TOLERANCE_MOST || row->head_dim > CP_TOLERANCE_MOST ||
        row->value_dim > CP_TOLERANCE_MOST) {
        claim_nothing(row, expected, bound);
        if (lse != NULL) {
            *lse = -INFINITY;
            *lse_bound = INFINITY;
        }
        return;
    }
    struct cp_row_bounds b = bound_row(arithmetic, counts, row);
    //@ ghost bounded: ;
    int sure = b.largest_z <= LARGEST_Z && b.left > 0.0 && isfinite(b.left);
    claim_columns(arithmetic, row, &b, sure, expected, bound);
    if (lse != NULL) {
        struct cp_lse_bounds of_lse = cp_tolerance_lse(&b, sure, lse_error);
        *lse = of_lse.lse;
        *lse_bound = of_lse.bound;
        //@ assert lse: lse_ok(b, lse_error, *lse, *lse_bound);
    }
    //@ assert scratch: same_numbers{bounded,Here}(row->scratch, 3 * row->n_keys);
    //@ assert values: same_numbers{bounded,Here}(row->v, row_at(row->n_keys, row->value_dim));
    /*@ ghost
      /@ loop invariant range: 0 <= j <= row->n_keys;
         loop invariant sums: same_sums{bounded,Here}(b, *row, j);
         loop invariant totals: same_totals{bounded,Here}(*row, j);
         loop assigns j; loop variant row->n_keys - j; @/
      for (int j = 0; j < row->n_keys; j++) {
          /@ assert inside: 0 <= row_at(j, row->value_dim) &&
                row_at(j, row->value_dim) + row->value_dim <=
                row_at(row->n_keys, row->value_dim); @/
          /@ assert key: same_number{bounded,Here}(row->scratch, j) &&
                same_number{bounded,Here}(row->scratch, row->n_keys + j) &&
                same_number{bounded,Here}(row->scratch, 2 * row->n_keys + j); @/
          /@ assert numbers: \forall integer i; 0 <= i < row->value_dim ==>
                same_number{bounded,Here}(row->v, row_at(j, row->value_dim) + i); @/
          /@ assert then: next_sums{bounded}(b, *row, j); @/
          /@ assert now: next_sums{Here}(b, *row, j); @/
      } */
    //@ assert columns_then: columns_claimed{bounded,Here}(*arithmetic, b, *row, expected, bound);
    /*@ assert column: \forall integer i; 0 <= i < row->value_dim ==>
          column_claimed{bounded}(*arithmetic, b, *row, i, expected[i], bound[i]) ==>
          column_claimed{Here}(*arithmetic, b, *row, i, expected[i], bound[i]); */
    //@ assert columns: columns_claimed{Here,Here}(*arithmetic, b, *row, expected, bound);
    /*@ assert key_from: \forall integer j, real sigma; 0 <= j < row->n_keys ==>
          key_from{Pre,bounded}(*arithmetic, b, counts->changes, *row, j, sigma) ==>
          key_from{Pre,Here}(*arithmetic, b, counts->changes, *row, j, sigma); */
    /*@ assert key: \forall integer j; 0 <= j < row->n_keys ==>
          key_ok{Pre,bounded}(*arithmetic, b, counts->changes, *row, j) ==>
          key_ok{Pre,Here}(*arithmetic, b, counts->changes, *row, j); */
    //@ assert sums: sums_ok{Here}(b, *row);
    //@ assert row: row_ok{Pre,Here}(*arithmetic, *counts, *row, b);
}
