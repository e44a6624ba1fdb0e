/* SPDX-License-Identifier: Apache-2.0 */
/* NUM-13. Sums of squares of bounds of single roundings; VARIANCE at the end is what a uniform
 * distribution makes of each. */
#include "chunkproof/tolerance_parts.h"

#include <math.h>
#include <stddef.h>

#include "tolerance_internal.h"

#define VARIANCE (1.0 / 3.0)

/*@
  assigns \nothing;
  ensures square: \result == x * x && 0.0 <= \result;
*/
static double square(double x) {
    return x * x;
}

/* NUM-20: where additions stand for one in 16 bits, they do not err independently. */
/*@
  requires ok: 0 <= depth;
  assigns \nothing;
  ensures not_negative: 0.0 <= \result;
*/
static double units_squared(double unit, int depth, int as_one) {
    return square(unit) * depth * (as_one > 1 ? as_one : 1);
}

/* What a sum of such terms errs, squared: each of `depth` additions on the way of a term errs with
 * what it has added up so far. That is as large as its terms alone, where they differ in sign, or
 * as their sum. */
/*@
  requires ok: 0.0 <= units && 0.0 <= of_terms;
  assigns \nothing;
  ensures not_negative: 0.0 <= \result;
*/
static double sum_squared(double units, double of_terms, double sum) {
    return units * (of_terms + square(sum));
}

/* NUM-6, for a score and the squares of its terms. */
/*@
  requires valid: \valid_read(a);
  requires ok: score_arithmetic_ok(*a) && 0 <= d && 0.0 <= of_terms;
  assigns \nothing;
  ensures not_negative: 0.0 <= \result;
*/
static double score_squared(const struct cp_score_arithmetic *a, double scale, int d, double score,
                            double of_terms) {
    double b = a->scaled_before ? 1.0 : scale;
    double units = units_squared(a->unit, a->depth, a->as_one);
    return square(a->term_unit) * of_terms + sum_squared(units, of_terms, score) +
           square(a->scale_unit * score) + square(a->scale_tiny) +
           square(b) * (d * square(a->term_tiny) + a->n_additions * square(a->tiny));
}

/* Scores and their squared errors to scratch[j] and scratch[n + j]; the largest score. */
/*@
  requires valid: \valid_read(a) && \valid_read(row) && \valid(h);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires apart: \separated(a, row, h, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row);
  requires ok: arithmetic_ok(*a);
  assigns *h, row->scratch[0 .. 2 * row->n_keys - 1];
  ensures errors: \forall integer j; 0 <= j < row->n_keys ==>
    is_error(row->scratch, row->n_keys, j);
*/
static double scan_scores(const struct cp_arithmetic *a, const struct cp_tolerance_row *row,
                          double *h) {
    double largest = -INFINITY, smallest = INFINITY;
    /*@ loop invariant range: 0 <= j <= row->n_keys;
        loop invariant errors: \forall integer t; 0 <= t < j ==>
          is_error(row->scratch, row->n_keys, t);
        loop assigns j, largest, smallest, row->scratch[0 .. 2 * row->n_keys - 1];
        loop variant row->n_keys - j; */
    for (int j = 0; j < row->n_keys; j++) {
        /*@ assert inside: row_at(j, row->head_dim) + row->head_dim <=
              row_at(row->n_keys, row->head_dim); */
        const double *key = row->k + cp_tolerance_row_begin(j, row->head_dim);
        double score = 0.0, of_terms = 0.0;
        /*@ loop invariant range: 0 <= i <= row->head_dim;
            loop invariant not_negative: 0.0 <= of_terms;
            loop assigns i, score, of_terms; loop variant row->head_dim - i; */
        for (int i = 0; i < row->head_dim; i++) {
            double term = row->scale * row->q[i] * key[i];
            score += term;
            of_terms += square(term);
        }
        double squared = score_squared(&a->score, row->scale, row->head_dim, score, of_terms);
        if (row->shift != NULL) {
            score += row->shift[j];
            squared += square(row->shift_error[j]);
        }
        row->scratch[j] = score;
        row->scratch[row->n_keys + j] = squared;
        /*@ assert kept: \forall integer t; 0 <= t < j ==>
              is_error(row->scratch, row->n_keys, t); */
        largest = fmax(largest, score);
        smallest = fmin(smallest, score);
    }
    *h = fmax(fabs(largest), fabs(smallest));
    return largest;
}

/* Squared errors of a key's weight: shared by n and o, and in o alone. */
struct key_squared {
    double weight, shared, alone;
};

/*@
  requires valid: \valid_read(a) && \valid_read(counts);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts);
  assigns \nothing;
*/
static struct key_squared key_squared(const struct cp_arithmetic *a, const struct cp_counts *counts,
                                      double score, double of_score, double top, double h,
                                      double rise) {
    double w = exp(score - top), changes = counts->changes;
    double rounding = square(fmax(a->weights.unit * w, a->weights.tiny * rise));
    double stray = of_score + square(a->u_arg * (top + a->above - score)) + square(a->u_ref * h) +
                   square(a->eps) + changes * (square(a->eps) + square(2.0 * a->u_move * h));
    double lost = square(a->kappa * rise) * (1.0 + changes);
    struct key_squared key = {w, square(w) * stray + lost, 0.0};
    if (a->rounded_sum) {
        key.shared += rounding;
    } else {
        key.alone += rounding;
    }
    return key;
}

void cp_tolerance_rms(const struct cp_arithmetic *a, const struct cp_counts *counts,
                      const struct cp_tolerance_row *row, const double *expected, double *rms) {
    int n = row->n_keys, d = row->value_dim;
    if (n < 1 || n > CP_TOLERANCE_MOST || d > CP_TOLERANCE_MOST ||
        row->head_dim > CP_TOLERANCE_MOST) {
        /*@ loop invariant range: 0 <= i <= d;
            loop assigns i, rms[0 .. d - 1]; loop variant d - i; */
        for (int i = 0; i < d; i++) {
            rms[i] = INFINITY;
        }
        return;
    }
    double h, top = scan_scores(a, row, &h), rise = exp(a->above); /* exp(high - top) */
    double weights = 0.0, of_weights = 0.0;                        /* W, and the sum of squares */
    double each =
        units_squared(a->u_o, counts->depth_o, a->as_one_o) + square(a->u_part) * counts->stores;
    /*@ loop invariant range: 0 <= i <= d;
        loop assigns i, rms[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        rms[i] = 0.0;
    }
    /*@ loop invariant range: 0 <= j <= n;
        loop invariant not_negative: 0.0 <= of_weights;
        loop assigns j, weights, of_weights, rms[0 .. d - 1]; loop variant n - j; */
    for (int j = 0; j < n; j++) {
        //@ assert inside: row_at(j, d) + d <= row_at(n, d);
        struct key_squared key =
            key_squared(a, counts, row->scratch[j], row->scratch[n + j], top, h, rise);
        const double *v = row->v + cp_tolerance_row_begin(j, d);
        double size = key.alone + each * square(key.weight);
        /*@ loop invariant range: 0 <= i <= d;
            loop assigns i, rms[0 .. d - 1]; loop variant d - i; */
        for (int i = 0; i < d; i++) {
            rms[i] += key.shared * square(v[i] - expected[i]) + size * square(v[i]);
        }
        weights += key.weight;
        of_weights += square(key.weight);
    }
    double of_n = sum_squared(units_squared(a->u_n, counts->depth_n, 1) +
                                  units_squared(a->u_part, counts->stores, 1),
                              of_weights, weights) +
                  counts->operations_n * square(a->eta_n * rise);
    /*@ loop invariant range: 0 <= i <= d;
        loop assigns i, rms[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        double o = expected[i];
        double sums = rms[i] + each * square(o * weights) +
                      counts->operations_o * square(a->eta_o * rise) + square(o) * of_n;
        double last = square(a->u_div * o) + square(a->eta_div) +
                      square(fmax(a->output.unit * fabs(o), a->output.tiny));
        rms[i] = sqrt(VARIANCE * (sums / square(weights) + last));
    }
}
