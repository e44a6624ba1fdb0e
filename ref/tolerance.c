/* SPDX-License-Identifier: Apache-2.0 */
/* The bound (NUM-9 to NUM-12), term by term. An example: two keys of one number each, q = 1, k = 0
 * and ln 2, v = 3 and 6, scale 1. Attention is (1 * 3 + 2 * 6) / 3 = 5. The class is
 * cp_arithmetic_fp32() with weights and output in binary16; one chunk, so no change of the
 * reference (C = 0).
 *
 *   step          what                               key 0     key 1     row
 *   1 scores      s_j                                0         0.693
 *                 slack, the largest error of one                        2.1e-7
 *                 high, low                                              0.693, -2.1e-7
 *   2 growth      S^C; G_n - 1; G_o - 1                                  1; 1.2e-7; 1.8e-7
 *   3 weights     w_j = exp(s_j - high), W           0.5       1         1.5
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
 * Why no bound comes out too small. The bound is computed in binary64, which rounds, too. Let z_j
 * bound the error of score j in binary64 (NUM-6), and Z be the largest z_j. Nothing is claimed when
 * Z > 2^-30, or when n or d > 2^20. Sums and products of terms that are not negative are then off
 * by a factor within 1 + 2^-28 for each term:
 *   - the score and the argument of the exponential change a term by at most Z + 2^-33;
 *   - an argument below -708 makes a weight that is rounded up to the smallest normal number;
 *   - a sum of n terms changes it by 2^-33;
 *   - the rest are a few roundings of 2^-53, or of 2^-52 for exp and expm1.
 * A factor 1 + 2^-24 on what is added, and as much of the weights taken from `left`, pays for all
 * of them. A difference needs more, `spare` below:
 *   - |v_ji - o_i| with o_i computed. The score, the argument and the exponential put a weight off
 *     by a factor between exp(-t) and exp(t), t = Z + 2^-53 (D + 2), D = high - low. A weight whose
 *     argument is below -708 is off by no more than its own value, which is added as it is. So the
 *     quotient is off by at most (exp(2t) - 1) A_i, with A_i = sum w_j |v_ji| over the others, and
 *     by (2n + 4) 2^-53 A_i for products, sums and the division: together by less than `lack` A_i,
 *     lack = 4 Z + 4 (D + n + 8) 2^-53. Products that underflow lose n 2^-1074 at most.
 *   - high, low and slack are computed from scores: each is moved outwards by Z. */
#include "chunkproof/tolerance.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "tolerance_internal.h"

#define COLUMNS     128
#define SLACK       0x1p-24
#define LARGEST_Z   0x1p-30
#define LEAST_SCORE (-708.0) /* exp() of less may be subnormal */
#define UNIT        0x1p-53
#define SMALLEST    0x1p-1074

/* What is the same for all columns. A weight is exp(s_j - high), and sums are in that scale. */
struct row_bounds {
    double largest_z;           /* Z */
    double lack;                /* of what is computed in binary64: see above */
    double high, low, slack, h; /* of the references */
    double stretch;             /* S^C */
    double growth_n, growth_o;  /* G_n - 1, G_o - 1 */
    double weights;             /* W */
    double shared;              /* sum H_j */
    double lost_n;              /* E_n */
    double tiny_o;              /* the second part of E_o */
    double left;
};

#ifdef __FRAMAC__
#include "proofs/logic/tolerance_bounds.h"
#endif

struct score {
    double sum, magnitude; /* sum |q_i k_i| */
};

/*@
  requires valid: \valid_read(q + (0 .. d - 1)) && \valid_read(key + (0 .. d - 1));
  requires size: 0 <= d;
  assigns \nothing;
  ensures not_negative: 0.0 <= \result.magnitude;
*/
static struct score dot(const double *q, const double *key, int d) {
    double sum = 0.0, magnitude = 0.0;
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant not_negative: 0.0 <= magnitude;
        loop assigns i, sum, magnitude; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        sum += q[i] * key[i];
        magnitude += fabs(q[i] * key[i]);
    }
    return (struct score){sum, magnitude};
}

/* Scores and their errors in the class to scratch[j] and scratch[n + j]; what follows from all of
 * them. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(row) && \valid(b);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires apart: \separated(a, counts, row, b, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts);
  requires empty: b->largest_z == 0.0 && b->slack == 0.0;
  assigns b->largest_z, b->high, b->low, b->slack, b->h, row->scratch[0 .. 2 * row->n_keys - 1];
  ensures references: references_ok(*b);
  ensures below: \forall integer j; 0 <= j < row->n_keys ==> row->scratch[j] <= b->high;
  ensures errors: \forall integer j; 0 <= j < row->n_keys ==>
    is_error(row->scratch, row->n_keys, j);
*/
static void compute_scores(const struct cp_arithmetic *a, const struct cp_counts *counts,
                           const struct cp_tolerance_row *row, struct row_bounds *b) {
    struct cp_arithmetic here = cp_arithmetic_fp64(row->head_dim);
    double largest = -INFINITY, smallest = INFINITY;
    /*@ loop invariant range: 0 <= j <= row->n_keys;
        loop invariant not_negative: 0.0 <= b->largest_z && 0.0 <= b->slack;
        loop invariant below: \forall integer t; 0 <= t < j ==> row->scratch[t] <= largest;
        loop invariant errors: \forall integer t; 0 <= t < j ==>
          is_error(row->scratch, row->n_keys, t);
        loop assigns j, largest, smallest, b->largest_z, b->slack,
          row->scratch[0 .. 2 * row->n_keys - 1]; loop variant row->n_keys - j; */
    for (int j = 0; j < row->n_keys; j++) {
        /*@ assert inside: row_at(j, row->head_dim) + row->head_dim <=
              row_at(row->n_keys, row->head_dim); */
        struct score product =
            dot(row->q, row->k + cp_tolerance_row_begin(j, row->head_dim), row->head_dim);
        double score = row->scale * product.sum;
        double magnitude = product.magnitude * fabs(row->scale);
        double z = cp_score_error(&here.score, row->scale, row->head_dim, magnitude);
        double sigma = cp_score_error(&a->score, row->scale, row->head_dim, magnitude);
        row->scratch[j] = score;
        row->scratch[row->n_keys + j] = sigma;
        /*@ assert kept: \forall integer t; 0 <= t < j ==>
              is_error(row->scratch, row->n_keys, t); */
        largest = fmax(largest, score);
        //@ assert larger: \at(largest, LoopCurrent) <= largest;
        //@ assert below: \forall integer t; 0 <= t < j ==> row->scratch[t] <= largest;
        smallest = fmin(smallest, score);
        b->largest_z = fmax(b->largest_z, z);
        b->slack = fmax(b->slack, sigma);
        //@ assert error: is_error(row->scratch, row->n_keys, j);
    }
    b->slack *= 1.0 + SLACK;
    b->high = largest + b->largest_z + b->slack + a->above;
    b->low = smallest - b->largest_z - b->slack - (counts->changes + 1.0) * a->below;
    b->slack += a->below;
    b->h = fmax(fabs(b->low), fabs(b->high));
}

/* NUM-9: X_j after so many changes of the reference. */
/*@
  requires valid: \valid_read(a) && \valid_read(b);
  requires ok: arithmetic_ok(*a) && references_ok(*b) && 0 <= changes;
  requires scored: score <= b->high && 0.0 <= sigma;
  assigns \nothing;
  ensures num_9: \result == stray(*a, *b, score, sigma, changes);
  ensures not_negative: 0.0 <= \result;
*/
static double strays(const struct cp_arithmetic *a, const struct row_bounds *b, double score,
                     double sigma, int changes) {
    double way = sigma + (b->high - score + b->largest_z) + 2.0 * b->slack * (changes + 1.0);
    //@ assert way: 0.0 <= way;
    //@ assert moved: 0.0 <= 2.0 * a->u_move * b->h;
    return sigma + a->u_arg * way + a->u_ref * b->h + a->eps +
           changes * (a->eps + 2.0 * a->u_move * b->h);
}

/* w_j, H_j, and T_j, the factor of |v_ji|: P_j + (G_o - 1)(w_j + H_j + P_j). */
struct key_bounds {
    double w, h, t;
};

/* NUM-9, from the score of a key and its error. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(b);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts) && growth_ok(*b);
  requires scored: score <= b->high && 0.0 <= sigma;
  assigns \nothing;
  ensures weight: 0.0 < \result.w;
  ensures not_negative: 0.0 <= \result.h && 0.0 <= \result.t;
*/
static struct key_bounds weigh(const struct cp_arithmetic *a, const struct cp_counts *counts,
                               const struct row_bounds *b, double score, double sigma) {
    double x = strays(a, b, score, sigma, counts->changes);
    double first = strays(a, b, score, sigma, 0);
    double w = score - b->high < LEAST_SCORE ? DBL_MIN : exp(score - b->high);
    double reach =
        ((exp(b->slack + first) + a->kappa) * (1.0 + a->weights.unit) + a->weights.tiny) *
        b->stretch;
    //@ assert reach: 0.0 <= reach;
    double rounding = fmax(a->weights.unit * (w + a->kappa), a->weights.tiny);
    double lost = a->kappa * counts->changes * reach;
    //@ assert lost: 0.0 <= lost;
    double both = a->kappa + lost + (a->rounded_sum ? rounding : 0.0);
    //@ assert both: 0.0 <= both;
    double grown = exp(x), gained = expm1(x);
    //@ ghost product_not_negative(both, grown);
    //@ ghost product_not_negative(w, gained);
    double h = w * gained + both * grown;
    //@ assert h: 0.0 <= h;
    double p = a->rounded_sum ? 0.0 : (rounding + lost) * grown;
    //@ assert p: 0.0 <= p;
    return (struct key_bounds){w, h, p + b->growth_o * (w + h + p)};
}

/* From a key's score and sigma in scratch to w_j, H_j, T_j, for each; W and sum H_j. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(row) && \valid(b);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires apart: \separated(a, counts, row, b, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires ok: arithmetic_ok(*a) && counts_ok(*counts) && growth_ok(*b);
  requires empty: b->weights == 0.0 && b->shared == 0.0;
  requires below: \forall integer j; 0 <= j < row->n_keys ==> row->scratch[j] <= b->high;
  requires errors: \forall integer j; 0 <= j < row->n_keys ==>
    is_error(row->scratch, row->n_keys, j);
  assigns b->weights, b->shared, row->scratch[0 .. 3 * row->n_keys - 1];
  ensures sums: 0.0 < b->weights && 0.0 <= b->shared;
  ensures weighed: \forall integer j; 0 <= j < row->n_keys ==>
    weighed(row->scratch, row->n_keys, j);
*/
static void compute_weights(const struct cp_arithmetic *a, const struct cp_counts *counts,
                            const struct cp_tolerance_row *row, struct row_bounds *b) {
    int n = row->n_keys;
    /*@ loop invariant range: 0 <= j <= n;
        loop invariant sums: 0.0 <= b->weights && (0 < j ==> 0.0 < b->weights) && 0.0 <= b->shared;
        loop invariant weighed: \forall integer i; 0 <= i < j ==> weighed(row->scratch, n, i);
        loop invariant below: \forall integer i; j <= i < n ==> row->scratch[i] <= b->high;
        loop invariant errors: \forall integer i; j <= i < n ==> is_error(row->scratch, n, i);
        loop assigns j, b->weights, b->shared, row->scratch[0 .. 3 * row->n_keys - 1];
        loop variant n - j; */
    for (int j = 0; j < n; j++) {
        //@ assert error: is_error(row->scratch, n, j);
        struct key_bounds key = weigh(a, counts, b, row->scratch[j], row->scratch[n + j]);
        row->scratch[j] = key.w;
        row->scratch[n + j] = key.h;
        row->scratch[2 * n + j] = key.t;
        b->weights += key.w;
        b->shared += key.h;
    }
}

/* N eta S^C G, of n or o. */
/*@
  requires ok: 0.0 <= operations && 0.0 <= eta && 0.0 <= stretch && 0.0 <= growth;
  assigns \nothing;
  ensures num_9: \result == operations * eta * stretch * (1.0 + growth);
  ensures not_negative: 0.0 <= \result;
*/
static double tiny_losses(double operations, double eta, double stretch, double growth) {
    //@ ghost product_not_negative(operations, eta);
    //@ ghost product_not_negative(operations * eta, stretch);
    return operations * eta * stretch * (1.0 + growth);
}

/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(row);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires apart: \separated(a, counts, row, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts);
  assigns row->scratch[0 .. 3 * row->n_keys - 1];
  ensures ok: bounds_ok(\result);
  ensures weighed: \forall integer j; 0 <= j < row->n_keys ==>
    weighed(row->scratch, row->n_keys, j);
*/
static struct row_bounds bound_row(const struct cp_arithmetic *a, const struct cp_counts *counts,
                                   const struct cp_tolerance_row *row) {
    struct row_bounds b = {0};
    compute_scores(a, counts, row, &b); /* 1 */
    double span = fmin(fmax(b.high - b.low, 0.0), -LEAST_SCORE);
    b.lack = 4.0 * b.largest_z + 4.0 * UNIT * (span + row->n_keys + 8.0);
    double s =
        exp(b.slack + a->u_arg * (b.high - b.low) + 2.0 * a->u_move * b.h + a->eps) + a->kappa;
    b.stretch = pow(s, counts->changes); /* 2 */
    b.growth_n = cp_tolerance_growth(a->u_n, counts->depth_n, a->u_part, counts->stores);
    b.growth_o = cp_tolerance_growth(a->u_o, counts->depth_o, a->u_part, counts->stores);
    compute_weights(a, counts, row, &b); /* 3 */
    //@ ghost product_not_negative(b.growth_n, b.weights + b.shared);
    b.lost_n = b.growth_n * (b.weights + b.shared) +
               tiny_losses(counts->operations_n, a->eta_n, b.stretch, b.growth_n);
    b.tiny_o = tiny_losses(counts->operations_o, a->eta_o, b.stretch, b.growth_o);
    b.left = b.weights * (1.0 - SLACK) - (b.shared + b.lost_n) * (1.0 + SLACK); /* 4 */
    return b;
}

/* NUM-3 gives E, NUM-10 the bound for a column, from E and o; expected is off by at most
 * `spare`. */
/*@
  requires valid: \valid_read(a);
  requires ok: arithmetic_ok(*a) && 0.0 <= spare;
  assigns \nothing;
  ensures num_12: size_of(expected, spare) + divided(*a, size_of(expected, spare), error) >
    a->output.largest ==> !finite(\result);
  ensures num_10: 0.0 <= error ==> !finite(\result) ||
    divided(*a, size_of(expected, spare), error) +
    rounded_by(a->output, size_of(expected, spare) +
      divided(*a, size_of(expected, spare), error)) + spare <= \result;
  ensures num_10_bound: 0.0 <= error ==> is_bound(\result);
*/
static double with_output(const struct cp_arithmetic *a, double error, double expected,
                          double spare) {
    double size = fabs(expected) + spare;
    double before = error + a->u_div * (size + error) + a->eta_div;
    if (!(size + before <= a->output.largest)) { /* NUM-12 */
        return INFINITY;
    }
    double rounding = fmax(a->output.unit * (size + before), a->output.tiny);
    return (before + rounding) * (1.0 + SLACK) + spare;
}

/* Sums of one key for `count` columns, and how far its part of the sum may be off. */
/*@
  requires size: 0 <= count <= COLUMNS && 0.0 <= w && 0.0 <= lack;
  requires valid: \valid_read(v + (0 .. count - 1)) && \valid(sum + (0 .. COLUMNS - 1)) &&
    \valid(magnitude + (0 .. COLUMNS - 1));
  requires apart: \separated(sum + (0 .. COLUMNS - 1), magnitude + (0 .. COLUMNS - 1));
  requires not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= magnitude[i];
  assigns sum[0 .. count - 1], magnitude[0 .. count - 1];
  ensures not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= magnitude[i];
*/
static void add_value(double w, double lack, const double *v, int count, double *sum,
                      double *magnitude) {
    /*@ loop invariant range: 0 <= i <= count;
        loop invariant not_negative: \forall integer t; 0 <= t < count ==> 0.0 <= magnitude[t];
        loop assigns i, sum[0 .. count - 1], magnitude[0 .. count - 1]; loop variant count - i; */
    for (int i = 0; i < count; i++) {
        double size = fabs(v[i]);
        //@ ghost product_not_negative(w, size);
        //@ ghost product_not_negative(w * size, lack);
        sum[i] += w * v[i];
        magnitude[i] += w * size * lack;
    }
}

/*@
  requires size: 0 <= count <= COLUMNS && 0.0 <= h && 0.0 <= t;
  requires valid: \valid_read(v + (0 .. count - 1)) &&
    \valid_read(expected + (0 .. COLUMNS - 1)) && \valid_read(spare + (0 .. COLUMNS - 1)) &&
    \valid(error + (0 .. COLUMNS - 1));
  requires apart: \separated(error + (0 .. COLUMNS - 1), spare + (0 .. COLUMNS - 1));
  requires not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= spare[i] && 0.0 <= error[i];
  assigns error[0 .. count - 1];
  ensures not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= error[i];
*/
static void add_error(double h, double t, const double *v, int count, const double *expected,
                      const double *spare, double *error) {
    /*@ loop invariant range: 0 <= i <= count;
        loop invariant not_negative: \forall integer j; 0 <= j < count ==> 0.0 <= error[j];
        loop assigns i, error[0 .. count - 1]; loop variant count - i; */
    for (int i = 0; i < count; i++) {
        double distance = fabs(v[i] - expected[i]) + spare[i], size = fabs(v[i]);
        //@ ghost product_not_negative(h, distance);
        //@ ghost product_not_negative(t, size);
        error[i] += h * distance + t * size;
    }
}

/* Columns first .. first + count - 1, at most COLUMNS: side by side, because they lie so in
 * memory. */
/*@
  requires valid: \valid_read(a) && \valid_read(row) && \valid_read(b);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires columns: 0 <= first && 1 <= count <= COLUMNS && first + count <= row->head_dim;
  requires valid_results: \valid(expected + (0 .. row->head_dim - 1)) &&
    \valid(bound + (0 .. row->head_dim - 1));
  requires apart: \separated(a, row, b, row->scratch + (0 .. 3 * row->n_keys - 1),
    expected + (0 .. row->head_dim - 1), bound + (0 .. row->head_dim - 1));
  requires ok: arithmetic_ok(*a) && bounds_ok(*b);
  requires weighed: \forall integer j; 0 <= j < row->n_keys ==>
    weighed(row->scratch, row->n_keys, j);
  assigns expected[first .. first + count - 1], bound[first .. first + count - 1];
  ensures num_10_bound: 0.0 < b->left ==>
    \forall integer i; first <= i < first + count ==> is_bound(bound[i]);
*/
static void bound_some(const struct cp_arithmetic *a, const struct cp_tolerance_row *row,
                       const struct row_bounds *b, int first, int count, double *expected,
                       double *bound) {
    int n = row->n_keys;
    const double *w = row->scratch, *h = w + n, *t = h + n, *v = row->v + first;
    double sum[COLUMNS] = {0.0}, magnitude[COLUMNS] = {0.0}, error[COLUMNS] = {0.0};
    /*@ loop invariant range: 0 <= j <= n;
        loop invariant not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= magnitude[i];
        loop assigns j, sum[0 .. COLUMNS - 1], magnitude[0 .. COLUMNS - 1]; loop variant n - j; */
    for (int j = 0; j < n; j++) {
        /*@ assert inside: 0 <= row_at(j, row->head_dim) &&
              row_at(j, row->head_dim) + row->head_dim <= row_at(n, row->head_dim); */
        //@ assert weighed: weighed(row->scratch, n, j);
        double lack = w[j] <= DBL_MIN ? 1.0 : b->lack;
        add_value(w[j], lack, v + cp_tolerance_row_begin(j, row->head_dim), count, sum, magnitude);
    }
    /*@ loop invariant range: 0 <= i <= count;
        loop invariant not_negative: \forall integer t; 0 <= t < count ==> 0.0 <= magnitude[t];
        loop assigns i, sum[0 .. COLUMNS - 1], magnitude[0 .. COLUMNS - 1];
        loop variant count - i; */
    for (int i = 0; i < count; i++) {
        sum[i] = sum[i] / b->weights;
        magnitude[i] = magnitude[i] / b->weights + n * SMALLEST; /* spare */
    }
    /*@ loop invariant range: 0 <= j <= n;
        loop invariant not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= error[i];
        loop assigns j, error[0 .. COLUMNS - 1]; loop variant n - j; */
    for (int j = 0; j < n; j++) {
        /*@ assert inside: 0 <= row_at(j, row->head_dim) &&
              row_at(j, row->head_dim) + row->head_dim <= row_at(n, row->head_dim); */
        //@ assert weighed: weighed(row->scratch, n, j);
        add_error(h[j], t[j], v + cp_tolerance_row_begin(j, row->head_dim), count, sum, magnitude,
                  error);
    }
    /*@ loop invariant range: 0 <= i <= count;
        loop invariant bounds: 0.0 < b->left ==>
          \forall integer t; first <= t < first + i ==> is_bound(bound[t]);
        loop assigns i, expected[first .. first + count - 1], bound[first .. first + count - 1];
        loop variant count - i; */
    for (int i = 0; i < count; i++) {
        double spare = magnitude[i], size = fabs(sum[i]) + spare;
        //@ assert spare: 0.0 <= spare && 0.0 <= error[i];
        //@ ghost product_not_negative(size, b->lost_n);
        double all = error[i] + (b->tiny_o + size * b->lost_n); /* 5 */
        //@ assert all: 0.0 <= all;
        expected[first + i] = sum[i];
        bound[first + i] = with_output(a, all * (1.0 + SLACK) / b->left, sum[i], spare); /* 6 */
    }
}

/*@
  requires valid: \valid_read(a) && \valid_read(row) && \valid_read(b);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires valid_results: \valid(expected + (0 .. row->head_dim - 1)) &&
    \valid(bound + (0 .. row->head_dim - 1));
  requires apart: \separated(a, row, b, row->scratch + (0 .. 3 * row->n_keys - 1),
    expected + (0 .. row->head_dim - 1), bound + (0 .. row->head_dim - 1));
  requires ok: arithmetic_ok(*a) && bounds_ok(*b);
  requires weighed: \forall integer j; 0 <= j < row->n_keys ==>
    weighed(row->scratch, row->n_keys, j);
  assigns expected[0 .. row->head_dim - 1], bound[0 .. row->head_dim - 1];
  ensures num_10_bound: 0.0 < b->left ==>
    \forall integer i; 0 <= i < row->head_dim ==> is_bound(bound[i]);
*/
static void bound_columns(const struct cp_arithmetic *a, const struct cp_tolerance_row *row,
                          const struct row_bounds *b, double *expected, double *bound) {
    /*@ loop invariant range: 0 <= first < row->head_dim + COLUMNS;
        loop invariant weighed: \forall integer j; 0 <= j < row->n_keys ==>
          weighed(row->scratch, row->n_keys, j);
        loop invariant bounds: 0.0 < b->left ==>
          \forall integer i; 0 <= i < first && i < row->head_dim ==> is_bound(bound[i]);
        loop assigns first, expected[0 .. row->head_dim - 1], bound[0 .. row->head_dim - 1];
        loop variant row->head_dim - first; */
    for (int first = 0; first < row->head_dim; first += COLUMNS) {
        int rest = row->head_dim - first;
        bound_some(a, row, b, first, rest < COLUMNS ? rest : COLUMNS, expected, bound);
    }
}

/* NUM-12: a row of no key, or of too many keys, gets zeros and infinite bounds. */
/*@
  requires size: 0 <= row->head_dim;
  requires valid: \valid_read(row) && \valid(expected + (0 .. row->head_dim - 1)) &&
    \valid(bound + (0 .. row->head_dim - 1));
  requires apart: \separated(row, expected + (0 .. row->head_dim - 1),
    bound + (0 .. row->head_dim - 1));
  assigns expected[0 .. row->head_dim - 1], bound[0 .. row->head_dim - 1];
  ensures num_12: \forall integer i; 0 <= i < row->head_dim ==>
    nothing_claimed(expected[i], bound[i]);
*/
static void claim_nothing(const struct cp_tolerance_row *row, double *expected, double *bound) {
    /*@ loop invariant range: 0 <= i <= row->head_dim;
        loop invariant nothing: \forall integer t; 0 <= t < i ==>
          nothing_claimed(expected[t], bound[t]);
        loop assigns i, expected[0 .. row->head_dim - 1], bound[0 .. row->head_dim - 1];
        loop variant row->head_dim - i; */
    for (int i = 0; i < row->head_dim; i++) {
        expected[i] = 0.0;
        bound[i] = INFINITY;
    }
}

struct lse_bounds {
    double lse, bound;
};

/* NUM-11: the log-sum-exp of a row and its bound. */
/*@
  requires valid: \valid_read(b);
  requires ok: bounds_ok(*b) && 0.0 <= lse_error;
  assigns \nothing;
  ensures num_11: e(\result.lse) == product(e(b->high), b->weights);
  ensures num_11_bound: is_bound(\result.bound);
  ensures num_11_unsure: !sure ==> !finite(\result.bound);
*/
static struct lse_bounds bound_lse(const struct row_bounds *b, int sure, double lse_error) {
    double part = (b->shared + b->lost_n) * (1.0 + SLACK) / (b->weights * (1.0 - SLACK));
    //@ assert part: 0.0 <= part;
    double logarithm = log(b->weights), lse = b->high + logarithm;
    //@ ghost e_of_both(b->high, logarithm);
    double spare = b->lack + 0x1p-50 * fabs(lse);
    return (struct lse_bounds){
        lse, sure && part < 1.0 ? (lse_error - log1p(-part)) * (1.0 + SLACK) + spare : INFINITY};
}

void cp_tolerance(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                  const struct cp_tolerance_row *row, double lse_error, double *expected,
                  double *bound, double *lse, double *lse_bound) {
    if (row->n_keys < 1 || row->n_keys > CP_TOLERANCE_MOST || row->head_dim > CP_TOLERANCE_MOST) {
        claim_nothing(row, expected, bound);
        if (lse != NULL) {
            *lse = -INFINITY;
            *lse_bound = INFINITY;
        }
        return;
    }
    struct row_bounds b = bound_row(arithmetic, counts, row);
    bound_columns(arithmetic, row, &b, expected, bound);
    int sure = b.largest_z <= LARGEST_Z && b.left > 0.0 && isfinite(b.left);
    /*@ loop invariant range: 0 <= i <= row->head_dim;
        loop invariant bounds: \forall integer t; 0 <= t < i ==> is_bound(bound[t]);
        loop invariant rest: \forall integer t; i <= t < row->head_dim ==>
          0.0 < b.left ==> is_bound(bound[t]);
        loop assigns i, bound[0 .. row->head_dim - 1]; loop variant row->head_dim - i; */
    for (int i = 0; i < row->head_dim; i++) {
        bound[i] = sure && !isnan(bound[i]) ? bound[i] : INFINITY;
    }
    if (lse != NULL) {
        struct lse_bounds of_lse = bound_lse(&b, sure, lse_error);
        *lse = of_lse.lse;
        *lse_bound = of_lse.bound;
    }
}
