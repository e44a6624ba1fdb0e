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
 * d > 2^20.
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

#include "tolerance_internal.h"

#define COLUMNS     128
#define LARGEST_Z   0x1p-30
#define LEAST_SCORE (-708.0)  /* exp() of less may be subnormal, */
#define FAINT       0x1p-1021 /* and is less than this */
#define UNIT        0x1p-53
#define SMALLEST    0x1p-1074

/* What is the same for all columns. A weight is exp(s_j - top), and sums are in that scale. */
struct row_bounds {
    double largest_z;           /* Z */
    double lack;                /* of what is computed in binary64: see above */
    double top;                 /* the largest computed score */
    double high, low, slack, h; /* of the references */
    double rise;                /* exp(high - top) */
    double stretch;             /* S^C */
    double growth_n, growth_o;  /* G_n - 1, G_o - 1 */
    double weights;             /* W, to nearest */
    double most, least;         /* between which it lies */
    double shared;              /* sum H_j */
    double lost_n;              /* E_n */
    double tiny_o;              /* the second part of E_o */
    double left;
};

#ifdef __FRAMAC__
#include "proofs/logic/tolerance_bounds.h"
#endif

struct score {
    double sum, magnitude; /* sum |q_i k_i|, rounded upwards */
};

/*@
  requires valid: \valid_read(q + (0 .. d - 1)) && \valid_read(key + (0 .. d - 1));
  requires size: 0 <= d <= CP_TOLERANCE_MOST;
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
    return (struct score){sum, up_sum(magnitude, d + 4)};
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
  assigns b->largest_z, b->top, b->high, b->low, b->slack, b->h, b->rise,
    row->scratch[0 .. 2 * row->n_keys - 1];
  ensures references: references_ok(*b);
  ensures below: \forall integer j; 0 <= j < row->n_keys ==> row->scratch[j] <= b->high;
  ensures errors: \forall integer j; 0 <= j < row->n_keys ==>
    is_error(row->scratch, row->n_keys, j);
*/
static void compute_scores(const struct cp_arithmetic *a, const struct cp_counts *counts,
                           const struct cp_tolerance_row *row, struct row_bounds *b) {
    struct cp_arithmetic here = cp_arithmetic_fp64(row->head_dim);
    struct cp_score_bound of_here =
        cp_tolerance_score_bound(&here.score, row->scale, row->head_dim);
    struct cp_score_bound of_class = cp_tolerance_score_bound(&a->score, row->scale, row->head_dim);
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
        double magnitude = up_times(product.magnitude, fabs(row->scale));
        double z = cp_tolerance_of_score(of_here, magnitude);
        double sigma = cp_tolerance_of_score(of_class, magnitude);
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
    double beyond = up_plus(b->largest_z, b->slack), above = up_plus(beyond, a->above);
    double below = up_plus(beyond, up_times(counts->changes + 1.0, a->below));
    b->top = largest;
    b->high = up_plus(largest, above);
    b->low = -up_plus(-smallest, below);
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
static double strays(const struct cp_arithmetic *a, const struct row_bounds *b, double score,
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
  ensures weight: 0.0 < \result.w;
  ensures not_negative: 0.0 <= \result.h && 0.0 <= \result.t;
*/
static struct key_bounds weigh(const struct cp_arithmetic *a, const struct cp_counts *counts,
                               const struct row_bounds *b, double score, double sigma) {
    double x = strays(a, b, score, sigma, counts->changes);
    double first = strays(a, b, score, sigma, 0);
    double w = score - b->top < LEAST_SCORE ? FAINT : exp(score - b->top);
    double most = up_times(w, up_plus(1.0, b->lack)), missing = up_times(a->kappa, b->rise);
    double made = up_plus(up_function(exp(up_plus(b->slack, first))), a->kappa);
    double rounded = up_plus(up_times(made, up_plus(1.0, a->weights.unit)), a->weights.tiny);
    double largest = up_times(rounded, b->stretch);
    double rounding =
        fmax(up_times(a->weights.unit, up_plus(most, missing)), up_times(a->weights.tiny, b->rise));
    double moved = up_times(missing, counts->changes);
    double lost = moved == 0.0 ? 0.0 : up_times(moved, largest); /* `largest` may overflow */
    double both = up_plus(up_plus(missing, lost), a->rounded_sum ? rounding : 0.0);
    double grown = up_function(exp(x)), gained = up_function(expm1(x));
    double h = up_plus(up_times(most, gained), up_times(both, grown));
    //@ assert not_negative: 0.0 <= most && 0.0 <= rounding && 0.0 <= both && 0.0 <= h;
    double p = a->rounded_sum ? 0.0 : up_times(up_plus(rounding, lost), grown);
    double in_o = up_times(b->growth_o, up_plus(up_plus(most, h), p));
    return (struct key_bounds){w, h, up_plus(p, in_o)};
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
        b->shared = up_plus(b->shared, key.h);
    }
}

/* N eta S^C G exp(high), of n or o. */
/*@
  requires valid: \valid_read(b);
  requires ok: 0.0 <= operations && 0.0 <= eta && growth_ok(*b) && 0.0 <= growth;
  assigns \nothing;
  ensures num_9: product(product(product(operations, b->rise),
    product(b->stretch, 1.0 + growth)), eta) <= \result;
  ensures not_negative: 0.0 <= \result;
*/
static double tiny_losses(const struct row_bounds *b, double operations, double eta,
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
  ensures not_negative: 0.0 <= \result;
*/
static double stretch_of(const struct cp_arithmetic *a, const struct row_bounds *b, int changes) {
    double moved = up_plus(up_times(2.0 * a->u_move, b->h), a->eps);
    double argument = up_times(a->u_arg, fmax(up_plus(b->high, -b->low), 0.0));
    double x = up_plus(up_plus(b->slack, argument), moved);
    double shrunk = up_function(fmax(exp(-x), SMALLEST));
    double missing = up_function(log1p(up_times(a->kappa, shrunk)));
    return up_function(exp(up_times(changes, up_plus(x, missing))));
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
    b.stretch = stretch_of(a, &b, counts->changes); /* 2 */
    b.growth_n = cp_tolerance_growth(a->u_n, counts->depth_n, a->u_part, counts->stores);
    b.growth_o = cp_tolerance_growth(a->u_o, counts->depth_o, a->u_part, counts->stores);
    compute_weights(a, counts, row, &b); /* 3 */
    //@ assert lack: 0.0 <= b.lack;
    b.most = up_times(b.weights, up_plus(1.0, b.lack));
    //@ assert most: product(b.weights, 1.0) <= b.most;
    b.least = -up_plus(-b.weights, up_times(b.weights, b.lack));
    b.lost_n = up_plus(up_times(b.growth_n, up_plus(b.most, b.shared)),
                       tiny_losses(&b, counts->operations_n, a->eta_n, b.growth_n));
    b.tiny_o = tiny_losses(&b, counts->operations_o, a->eta_o, b.growth_o);
    b.left = -up_plus(up_plus(b.shared, b.lost_n), -b.least); /* 4 */
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
    double size = up_plus(fabs(expected), spare);
    double quotient = up_plus(up_times(a->u_div, up_plus(size, error)), a->eta_div);
    double before = up_plus(error, quotient), written = up_plus(size, before);
    if (!(written <= a->output.largest)) { /* NUM-12 */
        return INFINITY;
    }
    double rounding = fmax(up_times(a->output.unit, written), a->output.tiny);
    return up_plus(up_plus(before, rounding), spare);
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
        double lack = w[j] <= FAINT ? 1.0 : b->lack;
        add_value(w[j], lack, v + cp_tolerance_row_begin(j, row->head_dim), count, sum, magnitude);
    }
    /*@ loop invariant range: 0 <= i <= count;
        loop invariant not_negative: \forall integer t; 0 <= t < count ==> 0.0 <= magnitude[t];
        loop assigns i, sum[0 .. COLUMNS - 1], magnitude[0 .. COLUMNS - 1];
        loop variant count - i; */
    for (int i = 0; i < count; i++) {
        sum[i] = sum[i] / b->weights;
        magnitude[i] = up_plus(up_sum(magnitude[i] / b->weights, n + 4), n * SMALLEST); /* spare */
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
        double spare = magnitude[i], size = up_plus(fabs(sum[i]), spare);
        //@ assert spare: 0.0 <= spare && 0.0 <= error[i];
        //@ ghost product_not_negative(size, b->lost_n);
        double of_sums = up_plus(b->tiny_o, up_times(size, b->lost_n)); /* 5 */
        double all = up_plus(up_sum(error[i], 2 * n + 8), of_sums);
        //@ assert all: 0.0 <= all;
        expected[first + i] = sum[i];
        bound[first + i] = with_output(a, up(all / b->left), sum[i], spare); /* 6 */
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
  requires ok: bounds_ok(*b) && 0.0 <= lse_error && (sure ==> 0.0 < b->left);
  assigns \nothing;
  ensures num_11: e(\result.lse) == product(e(b->top), b->weights);
  ensures num_11_bound: is_bound(\result.bound);
  ensures num_11_unsure: !sure ==> !finite(\result.bound);
*/
static struct lse_bounds bound_lse(const struct row_bounds *b, int sure, double lse_error) {
    double logarithm = log(b->weights), lse = b->top + logarithm;
    //@ ghost e_of_both(b->top, logarithm);
    double spare = up_plus(b->lack, up_times(0x1p-50, fabs(lse)));
    if (!sure) {
        return (struct lse_bounds){lse, INFINITY};
    }
    double part = up(up_plus(b->shared, b->lost_n) / b->least);
    //@ assert part: 0.0 <= part;
    if (!(part < 1.0)) {
        return (struct lse_bounds){lse, INFINITY};
    }
    double of_weights = up_function(-log1p(-part));
    return (struct lse_bounds){lse, up_plus(up_plus(lse_error, of_weights), spare)};
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
