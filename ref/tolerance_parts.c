/* SPDX-License-Identifier: Apache-2.0 */
/* NUM-9 and NUM-10 written down a second time, so that each term is kept by itself. Beside that, a
 * check on tolerance.c: what comes out adds up to its bound (tests/test_tolerance_parts.c). */
#include "chunkproof/tolerance_parts.h"

#include <math.h>
#include <stddef.h>

#include "tolerance_internal.h"

/* What follows from all keys. In the scale of exp(top), as in tolerance.c. */
struct row_parts {
    double top, high, low, slack, h, rise, stretch;
    double growth_n, growth_o; /* G - 1 */
    double merges_n, merges_o; /* which part of it is due to merges */
    double weights, loss;      /* W, E_n */
    double lost[CP_TOLERANCE_PARTS];
};

/* One key: what it adds to each part. */
struct key_parts {
    double weight;
    double shared[CP_TOLERANCE_PARTS]; /* H_j: of the factor |v_j - o| */
    double alone[CP_TOLERANCE_PARTS];  /* P_j: of |v_j| */
    double all;                        /* w_j + H_j + P_j */
};

/*@
  requires valid: \valid_read(parts + (0 .. CP_TOLERANCE_PARTS - 1));
  assigns \nothing;
*/
static double total(const double *parts) {
    double sum = 0.0;
    /*@ loop invariant range: 0 <= p <= CP_TOLERANCE_PARTS;
        loop assigns p, sum; loop variant CP_TOLERANCE_PARTS - p; */
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        sum += parts[p];
    }
    return sum;
}

/* Scores and their errors to scratch[j] and scratch[n + j]. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(row) && \valid(r);
  requires valid_row: row_valid(*row) && size_ok(*row) && shifts_ok(*row);
  requires apart: \separated(a, counts, row, r, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts);
  assigns r->top, r->high, r->low, r->slack, r->h, r->rise, row->scratch[0 .. 2 * row->n_keys - 1];
  ensures errors: \forall integer j; 0 <= j < row->n_keys ==>
    is_error(row->scratch, row->n_keys, j);
  ensures not_negative: 0.0 <= r->slack && 0.0 <= r->h;
*/
static void scan_scores(const struct cp_arithmetic *a, const struct cp_counts *counts,
                        const struct cp_tolerance_row *row, struct row_parts *r) {
    double largest = -INFINITY, smallest = INFINITY;
    r->slack = 0.0;
    /*@ loop invariant range: 0 <= j <= row->n_keys;
        loop invariant not_negative: 0.0 <= r->slack;
        loop invariant shifts: shifts_ok(*row);
        loop invariant errors: \forall integer t; 0 <= t < j ==>
          is_error(row->scratch, row->n_keys, t);
        loop assigns j, largest, smallest, r->slack, row->scratch[0 .. 2 * row->n_keys - 1];
        loop variant row->n_keys - j; */
    for (int j = 0; j < row->n_keys; j++) {
        /*@ assert inside: row_at(j, row->head_dim) + row->head_dim <=
              row_at(row->n_keys, row->head_dim); */
        const double *key = row->k + cp_tolerance_row_begin(j, row->head_dim);
        double score = 0.0, magnitude = 0.0;
        /*@ loop invariant range: 0 <= i <= row->head_dim;
            loop invariant not_negative: 0.0 <= magnitude;
            loop assigns i, score, magnitude; loop variant row->head_dim - i; */
        for (int i = 0; i < row->head_dim; i++) {
            score += row->scale * row->q[i] * key[i];
            magnitude += fabs(row->scale * row->q[i] * key[i]);
        }
        double sigma = cp_score_error(&a->score, row->scale, row->head_dim, magnitude);
        if (row->shift != NULL) {
            score += row->shift[j];
            sigma += row->shift_error[j];
        }
        //@ assert not_negative: 0.0 <= sigma;
        row->scratch[j] = score;
        row->scratch[row->n_keys + j] = sigma;
        largest = fmax(largest, score);
        smallest = fmin(smallest, score);
        r->slack = fmax(r->slack, sigma);
    }
    r->top = largest;
    r->high = largest + r->slack + a->above;
    r->rise = exp(r->slack + a->above);
    r->low = smallest - r->slack - (counts->changes + 1.0) * a->below;
    r->slack += a->below;
    r->h = fmax(fabs(r->low), fabs(r->high));
}

/* (1 + u)^k (1 + u_part)^K - 1, and which part of its logarithm is due to the stores and to two
 * operations for each change of the reference. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid(merges);
  requires apart: \separated(a, merges) && \separated(counts, merges);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts) && 0.0 <= unit && 0 <= depth;
  assigns *merges;
*/
static double growth_of(const struct cp_arithmetic *a, const struct cp_counts *counts, double unit,
                        int depth, double *merges) {
    double in_merges = fmin(depth, 2.0 * counts->changes);
    double by_merges = in_merges * log1p(unit) + counts->stores * log1p(a->u_part);
    double by_all = depth * log1p(unit) + counts->stores * log1p(a->u_part);
    *merges = by_all > 0.0 ? by_merges / by_all : 0.0;
    return expm1(by_all);
}

/* X_j, the parts of it that each cause has. */
/*@
  requires valid: \valid_read(a) && \valid_read(r) && \valid(x + (0 .. CP_TOLERANCE_PARTS - 1));
  requires apart: \separated(a, r, x + (0 .. CP_TOLERANCE_PARTS - 1));
  assigns x[0 .. CP_TOLERANCE_PARTS - 1];
*/
static double stray_parts(const struct cp_arithmetic *a, const struct row_parts *r, double score,
                          double sigma, int changes, double *x) {
    /*@ loop invariant range: 0 <= p <= CP_TOLERANCE_PARTS;
        loop assigns p, x[0 .. CP_TOLERANCE_PARTS - 1]; loop variant CP_TOLERANCE_PARTS - p; */
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        x[p] = 0.0;
    }
    x[CP_PART_SCORES] = sigma + a->u_arg * sigma;
    x[CP_PART_EXP] =
        a->u_arg * (r->high - score + 2.0 * r->slack * (changes + 1.0)) + a->u_ref * r->h + a->eps;
    x[CP_PART_MERGES] = changes * (a->eps + 2.0 * a->u_move * r->h);
    return total(x);
}

/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(r);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts);
  assigns \nothing;
*/
static struct key_parts parts_of_key(const struct cp_arithmetic *a, const struct cp_counts *counts,
                                     const struct row_parts *r, double score, double sigma) {
    struct key_parts key = {.weight = exp(score - r->top)};
    double x[CP_TOLERANCE_PARTS];
    double first = stray_parts(a, r, score, sigma, 0, x);
    double stray = stray_parts(a, r, score, sigma, counts->changes, x);
    double reach =
        ((exp(r->slack + first) + a->kappa) * (1.0 + a->weights.unit) + a->weights.tiny) *
        r->stretch;
    double missing = a->kappa * r->rise;
    double rounding = fmax(a->weights.unit * (key.weight + missing), a->weights.tiny * r->rise);
    double lost = missing * counts->changes * reach * exp(stray);
    double each = stray > 0.0 ? key.weight * expm1(stray) / stray : 0.0;
    /*@ loop invariant range: 0 <= p <= CP_TOLERANCE_PARTS;
        loop assigns p, key.shared[0 .. CP_TOLERANCE_PARTS - 1];
        loop variant CP_TOLERANCE_PARTS - p; */
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        key.shared[p] = each * x[p];
    }
    key.shared[CP_PART_EXP] += missing * exp(stray);
    key.shared[CP_PART_MERGES] += lost;
    if (a->rounded_sum) {
        key.shared[CP_PART_WEIGHTS] += rounding * exp(stray);
    } else {
        key.alone[CP_PART_WEIGHTS] += rounding * exp(stray);
        key.alone[CP_PART_MERGES] += lost;
    }
    key.all = key.weight + total(key.shared) + total(key.alone);
    return key;
}

/* Each key's part in each column. parts[i][CP_PART_SUMS] is, until the end, sum (w_j + H_j + P_j)
 * |v_ji|. */
/*@
  requires size: 0 <= d <= CP_TOLERANCE_MOST;
  requires valid: \valid_read(key) && \valid_read(v + (0 .. d - 1)) &&
    \valid_read(expected + (0 .. d - 1)) && \valid(parts + (0 .. CP_TOLERANCE_PARTS * d - 1));
  requires apart: \separated(key, parts + (0 .. CP_TOLERANCE_PARTS * d - 1), v + (0 .. d - 1));
  requires apart_expected: \separated(expected + (0 .. d - 1),
    parts + (0 .. CP_TOLERANCE_PARTS * d - 1));
  assigns parts[0 .. CP_TOLERANCE_PARTS * d - 1];
*/
static void add_key(const struct key_parts *key, const double *v, const double *expected, int d,
                    double *parts) {
    /*@ loop invariant range: 0 <= i <= d;
        loop assigns i, parts[0 .. CP_TOLERANCE_PARTS * d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        double *to = parts + (ptrdiff_t)i * CP_TOLERANCE_PARTS;
        double away = fabs(v[i] - expected[i]), size = fabs(v[i]);
        /*@ loop invariant range: 0 <= p <= CP_TOLERANCE_PARTS;
            loop assigns p, parts[0 .. CP_TOLERANCE_PARTS * d - 1];
            loop variant CP_TOLERANCE_PARTS - p; */
        for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
            to[p] += key->shared[p] * away + key->alone[p] * size;
        }
        to[CP_PART_SUMS] += key->all * size;
    }
}

/*@
  requires valid: \valid(parts + (0 .. CP_TOLERANCE_PARTS - 1));
  assigns parts[0 .. CP_TOLERANCE_PARTS - 1];
*/
static void split(double loss, double merges, double *parts) {
    parts[CP_PART_SUMS] += (1.0 - merges) * loss;
    parts[CP_PART_MERGES] += merges * loss;
}

/* NUM-10 from E's parts, in the scale of the weights; left is in the scale of 1. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(r) &&
    \valid(parts + (0 .. CP_TOLERANCE_PARTS - 1));
  requires apart: \separated(a, counts, r, parts + (0 .. CP_TOLERANCE_PARTS - 1));
  assigns parts[0 .. CP_TOLERANCE_PARTS - 1];
*/
static void finish_column(const struct cp_arithmetic *a, const struct cp_counts *counts,
                          const struct row_parts *r, double left, double expected, double *parts) {
    double size = fabs(expected), magnitude = parts[CP_PART_SUMS];
    double loss = r->growth_o * magnitude +
                  counts->operations_o * a->eta_o * r->rise * r->stretch * (1.0 + r->growth_o);
    parts[CP_PART_SUMS] = 0.0;
    split(loss, r->merges_o, parts);
    split(size * r->loss, r->merges_n, parts);
    /*@ loop invariant range: 0 <= p <= CP_TOLERANCE_PARTS;
        loop assigns p, parts[0 .. CP_TOLERANCE_PARTS - 1]; loop variant CP_TOLERANCE_PARTS - p; */
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        parts[p] /= left * r->weights;
    }
    double error = total(parts);
    double before = error + a->u_div * (size + error) + a->eta_div;
    double after = before + fmax(a->output.unit * (size + before), a->output.tiny);
    parts[CP_PART_OUTPUT] = after - error;
}

/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid(r) &&
    \valid(lost + (0 .. CP_TOLERANCE_PARTS - 1));
  requires apart: \separated(a, counts, r, lost + (0 .. CP_TOLERANCE_PARTS - 1));
  assigns r->loss, r->lost[0 .. CP_TOLERANCE_PARTS - 1], lost[0 .. CP_TOLERANCE_PARTS - 1];
*/
static double find_left(const struct cp_arithmetic *a, const struct cp_counts *counts,
                        struct row_parts *r, double *lost) {
    double shared = total(r->lost);
    r->loss = r->growth_n * (r->weights + shared) +
              counts->operations_n * a->eta_n * r->rise * r->stretch * (1.0 + r->growth_n);
    split(r->loss, r->merges_n, r->lost);
    /*@ loop invariant range: 0 <= p <= CP_TOLERANCE_PARTS;
        loop assigns p, lost[0 .. CP_TOLERANCE_PARTS - 1]; loop variant CP_TOLERANCE_PARTS - p; */
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        lost[p] = r->lost[p] / r->weights;
    }
    return 1.0 - total(lost);
}

/* All parts are this. */
/*@
  requires valid: 0 <= d && \valid(parts + (0 .. CP_TOLERANCE_PARTS * d - 1));
  assigns parts[0 .. CP_TOLERANCE_PARTS * d - 1];
*/
static void fill(double *parts, int d, double x) {
    /*@ loop invariant range: 0 <= i <= CP_TOLERANCE_PARTS * d;
        loop assigns i, parts[0 .. CP_TOLERANCE_PARTS * d - 1];
        loop variant CP_TOLERANCE_PARTS * d - i; */
    for (ptrdiff_t i = 0; i < (ptrdiff_t)d * CP_TOLERANCE_PARTS; i++) {
        parts[i] = x;
    }
}

/* No key, or too many. */
/*@
  requires valid: 0 <= d && \valid(parts + (0 .. CP_TOLERANCE_PARTS * d - 1)) &&
    \valid(lost + (0 .. CP_TOLERANCE_PARTS - 1));
  assigns parts[0 .. CP_TOLERANCE_PARTS * d - 1], lost[0 .. CP_TOLERANCE_PARTS - 1];
*/
static double claim_nothing(int d, double *parts, double *lost) {
    fill(parts, d, INFINITY);
    /*@ loop invariant range: 0 <= p <= CP_TOLERANCE_PARTS;
        loop assigns p, lost[0 .. CP_TOLERANCE_PARTS - 1]; loop variant CP_TOLERANCE_PARTS - p; */
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        lost[p] = 0.0;
    }
    return -INFINITY;
}

/* From a key's score and sigma in scratch to its parts, for each: W, sum H_j, and the columns. */
/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(row) && \valid(r) &&
    \valid_read(expected + (0 .. row->value_dim - 1)) &&
    \valid(parts + (0 .. CP_TOLERANCE_PARTS * row->value_dim - 1));
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires apart: \separated(a, counts, row, r,
    parts + (0 .. CP_TOLERANCE_PARTS * row->value_dim - 1));
  requires apart_read: apart_from_row(parts, CP_TOLERANCE_PARTS * row->value_dim, *row) &&
    \separated(expected + (0 .. row->value_dim - 1),
      parts + (0 .. CP_TOLERANCE_PARTS * row->value_dim - 1));
  requires apart_scratch: \separated(row->scratch + (0 .. 3 * row->n_keys - 1), r,
    parts + (0 .. CP_TOLERANCE_PARTS * row->value_dim - 1));
  requires ok: arithmetic_ok(*a) && counts_ok(*counts);
  assigns r->weights, r->lost[0 .. CP_TOLERANCE_PARTS - 1],
    parts[0 .. CP_TOLERANCE_PARTS * row->value_dim - 1];
*/
static void add_keys(const struct cp_arithmetic *a, const struct cp_counts *counts,
                     const struct cp_tolerance_row *row, const double *expected,
                     struct row_parts *r, double *parts) {
    int n = row->n_keys, d = row->value_dim;
    /*@ loop invariant range: 0 <= j <= n;
        loop assigns j, r->weights, r->lost[0 .. CP_TOLERANCE_PARTS - 1],
          parts[0 .. CP_TOLERANCE_PARTS * d - 1]; loop variant n - j; */
    for (int j = 0; j < n; j++) {
        //@ assert inside: row_at(j, d) + d <= row_at(n, d);
        struct key_parts key = parts_of_key(a, counts, r, row->scratch[j], row->scratch[n + j]);
        r->weights += key.weight;
        /*@ loop invariant range: 0 <= p <= CP_TOLERANCE_PARTS;
            loop assigns p, r->lost[0 .. CP_TOLERANCE_PARTS - 1];
            loop variant CP_TOLERANCE_PARTS - p; */
        for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
            r->lost[p] += key.shared[p];
        }
        add_key(&key, row->v + cp_tolerance_row_begin(j, d), expected, d, parts);
    }
}

/*@
  requires valid: \valid_read(a) && \valid_read(counts) && \valid_read(row) && \valid(r);
  requires valid_row: row_valid(*row) && size_ok(*row) && shifts_ok(*row);
  requires apart: \separated(a, counts, row, r, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts);
  assigns *r, row->scratch[0 .. 2 * row->n_keys - 1];
*/
static void begin_row(const struct cp_arithmetic *a, const struct cp_counts *counts,
                      const struct cp_tolerance_row *row, struct row_parts *r) {
    scan_scores(a, counts, row, r);
    double x = r->slack + a->u_arg * (r->high - r->low) + 2.0 * a->u_move * r->h + a->eps;
    r->stretch = exp(counts->changes * (x + log1p(a->kappa * exp(-x))));
    r->growth_n = growth_of(a, counts, a->u_n, counts->depth_n, &r->merges_n);
    r->growth_o = growth_of(a, counts, a->u_o, counts->depth_o, &r->merges_o);
    r->weights = 0.0;
    /*@ loop invariant range: 0 <= p <= CP_TOLERANCE_PARTS;
        loop assigns p, r->lost[0 .. CP_TOLERANCE_PARTS - 1];
        loop variant CP_TOLERANCE_PARTS - p; */
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        r->lost[p] = 0.0;
    }
}

double cp_tolerance_parts(const struct cp_arithmetic *a, const struct cp_counts *counts,
                          const struct cp_tolerance_row *row, const double *expected, double *parts,
                          double *lost) {
    int n = row->n_keys, d = row->value_dim;
    struct row_parts r;
    if (n < 1 || n > CP_TOLERANCE_MOST || d > CP_TOLERANCE_MOST ||
        row->head_dim > CP_TOLERANCE_MOST) {
        return claim_nothing(d, parts, lost);
    }
    fill(parts, d, 0.0);
    begin_row(a, counts, row, &r);
    add_keys(a, counts, row, expected, &r, parts);
    double left = find_left(a, counts, &r, lost);
    /*@ loop invariant range: 0 <= i <= d;
        loop assigns i, parts[0 .. CP_TOLERANCE_PARTS * d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        finish_column(a, counts, &r, left, expected[i], parts + (ptrdiff_t)i * CP_TOLERANCE_PARTS);
    }
    if (!(left > 0.0)) {
        fill(parts, d, INFINITY);
    }
    return left;
}
