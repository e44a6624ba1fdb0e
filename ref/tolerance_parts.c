/* SPDX-License-Identifier: Apache-2.0 */
/* NUM-9 and NUM-10 written down a second time, so that each term is kept by itself. Beside that, a check on
 * tolerance.c: what comes out adds up to its bound (tests/test_tolerance_parts.c). */
#include "chunkproof/tolerance_parts.h"

#include <math.h>
#include <stddef.h>

/* What follows from all keys. In the scale of exp(high), as in tolerance.c. */
struct row_parts {
    double high, low, slack, h, stretch;
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

static double total(const double *parts) {
    double sum = 0.0;
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        sum += parts[p];
    }
    return sum;
}

/* Scores and their errors to scratch[j] and scratch[n + j]. */
static void scan_scores(const struct cp_arithmetic *a, const struct cp_counts *counts,
                        const struct cp_tolerance_row *row, struct row_parts *r) {
    double largest = -INFINITY, smallest = INFINITY;
    r->slack = 0.0;
    for (int j = 0; j < row->n_keys; j++) {
        const double *key = row->k + (ptrdiff_t)j * row->head_dim;
        double score = 0.0, magnitude = 0.0;
        for (int i = 0; i < row->head_dim; i++) {
            score += row->scale * row->q[i] * key[i];
            magnitude += fabs(row->scale * row->q[i] * key[i]);
        }
        double sigma = cp_score_error(&a->score, row->scale, row->head_dim, magnitude);
        row->scratch[j] = score;
        row->scratch[row->n_keys + j] = sigma;
        largest = fmax(largest, score);
        smallest = fmin(smallest, score);
        r->slack = fmax(r->slack, sigma);
    }
    r->high = largest + r->slack + a->above;
    r->low = smallest - r->slack - (counts->changes + 1.0) * a->below;
    r->slack += a->below;
    r->h = fmax(fabs(r->low), fabs(r->high));
}

/* (1 + u)^k (1 + u_part)^K - 1, and which part of its logarithm is due to the stores and to two operations for
 * each change of the reference. */
static double growth_of(const struct cp_arithmetic *a, const struct cp_counts *counts, double unit,
                        int depth, double *merges) {
    double in_merges = fmin(depth, 2.0 * counts->changes);
    double by_merges = in_merges * log1p(unit) + counts->stores * log1p(a->u_part);
    double by_all = depth * log1p(unit) + counts->stores * log1p(a->u_part);
    *merges = by_all > 0.0 ? by_merges / by_all : 0.0;
    return expm1(by_all);
}

/* X_j, the parts of it that each cause has. */
static double stray_parts(const struct cp_arithmetic *a, const struct row_parts *r, double score,
                          double sigma, int changes, double *x) {
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        x[p] = 0.0;
    }
    x[CP_PART_SCORES] = sigma + a->u_arg * sigma;
    x[CP_PART_EXP] =
        a->u_arg * (r->high - score + 2.0 * r->slack * (changes + 1.0)) + a->u_ref * r->h + a->eps;
    x[CP_PART_MERGES] = changes * (a->eps + 2.0 * a->u_move * r->h);
    return total(x);
}

static struct key_parts parts_of_key(const struct cp_arithmetic *a, const struct cp_counts *counts,
                                     const struct row_parts *r, double score, double sigma) {
    struct key_parts key = {.weight = exp(score - r->high)};
    double x[CP_TOLERANCE_PARTS];
    double first = stray_parts(a, r, score, sigma, 0, x);
    double stray = stray_parts(a, r, score, sigma, counts->changes, x);
    double reach =
        ((exp(r->slack + first) + a->kappa) * (1.0 + a->weights.unit) + a->weights.tiny) *
        r->stretch;
    double rounding = fmax(a->weights.unit * (key.weight + a->kappa), a->weights.tiny);
    double lost = a->kappa * counts->changes * reach * exp(stray);
    double each = stray > 0.0 ? key.weight * expm1(stray) / stray : 0.0;
    double *of_weights = a->rounded_sum ? key.shared : key.alone;
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        key.shared[p] = each * x[p];
    }
    key.shared[CP_PART_EXP] += a->kappa * exp(stray);
    key.shared[CP_PART_MERGES] += lost;
    of_weights[CP_PART_WEIGHTS] += rounding * exp(stray);
    if (!a->rounded_sum) {
        key.alone[CP_PART_MERGES] += lost;
    }
    key.all = key.weight + total(key.shared) + total(key.alone);
    return key;
}

/* Each key's part in each column. parts[i][CP_PART_SUMS] is, until the end, sum (w_j + H_j + P_j) |v_ji|. */
static void add_key(const struct key_parts *key, const double *v, const double *expected, int d,
                    double *parts) {
    for (int i = 0; i < d; i++) {
        double *to = parts + (ptrdiff_t)i * CP_TOLERANCE_PARTS;
        double away = fabs(v[i] - expected[i]), size = fabs(v[i]);
        for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
            to[p] += key->shared[p] * away + key->alone[p] * size;
        }
        to[CP_PART_SUMS] += key->all * size;
    }
}

static void split(double loss, double merges, double *parts) {
    parts[CP_PART_SUMS] += (1.0 - merges) * loss;
    parts[CP_PART_MERGES] += merges * loss;
}

/* NUM-10 from E's parts, in the scale of the weights; left is in the scale of 1. */
static void finish_column(const struct cp_arithmetic *a, const struct cp_counts *counts,
                          const struct row_parts *r, double left, double expected, double *parts) {
    double size = fabs(expected), magnitude = parts[CP_PART_SUMS];
    double loss = r->growth_o * magnitude +
                  counts->operations_o * a->eta_o * r->stretch * (1.0 + r->growth_o);
    parts[CP_PART_SUMS] = 0.0;
    split(loss, r->merges_o, parts);
    split(size * r->loss, r->merges_n, parts);
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        parts[p] /= left * r->weights;
    }
    double error = total(parts);
    double before = error + a->u_div * (size + error) + a->eta_div;
    double after = before + fmax(a->output.unit * (size + before), a->output.tiny);
    parts[CP_PART_OUTPUT] = after - error;
}

static double find_left(const struct cp_arithmetic *a, const struct cp_counts *counts,
                        struct row_parts *r, double *lost) {
    double shared = total(r->lost);
    r->loss = r->growth_n * (r->weights + shared) +
              counts->operations_n * a->eta_n * r->stretch * (1.0 + r->growth_n);
    split(r->loss, r->merges_n, r->lost);
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        lost[p] = r->lost[p] / r->weights;
    }
    return 1.0 - total(lost);
}

/* No key, or too many. */
static double claim_nothing(int d, double *parts, double *lost) {
    for (ptrdiff_t i = 0; i < (ptrdiff_t)d * CP_TOLERANCE_PARTS; i++) {
        parts[i] = INFINITY;
    }
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        lost[p] = 0.0;
    }
    return -INFINITY;
}

double cp_tolerance_parts(const struct cp_arithmetic *a, const struct cp_counts *counts,
                          const struct cp_tolerance_row *row, const double *expected, double *parts,
                          double *lost) {
    int n = row->n_keys, d = row->head_dim;
    struct row_parts r = {.weights = 0.0};
    if (n < 1 || n > CP_TOLERANCE_MOST) {
        return claim_nothing(d, parts, lost);
    }
    for (ptrdiff_t i = 0; i < (ptrdiff_t)d * CP_TOLERANCE_PARTS; i++) {
        parts[i] = 0.0;
    }
    scan_scores(a, counts, row, &r);
    r.stretch =
        pow(exp(r.slack + a->u_arg * (r.high - r.low) + 2.0 * a->u_move * r.h + a->eps) + a->kappa,
            counts->changes);
    r.growth_n = growth_of(a, counts, a->u_n, counts->depth_n, &r.merges_n);
    r.growth_o = growth_of(a, counts, a->u_o, counts->depth_o, &r.merges_o);
    for (int j = 0; j < n; j++) {
        struct key_parts key = parts_of_key(a, counts, &r, row->scratch[j], row->scratch[n + j]);
        r.weights += key.weight;
        for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
            r.lost[p] += key.shared[p];
        }
        add_key(&key, row->v + (ptrdiff_t)j * d, expected, d, parts);
    }
    double left = find_left(a, counts, &r, lost);
    for (int i = 0; i < d; i++) {
        finish_column(a, counts, &r, left, expected[i], parts + (ptrdiff_t)i * CP_TOLERANCE_PARTS);
    }
    for (ptrdiff_t i = 0; !(left > 0.0) && i < (ptrdiff_t)d * CP_TOLERANCE_PARTS; i++) {
        parts[i] = INFINITY;
    }
    return left;
}
