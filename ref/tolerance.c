/* SPDX-License-Identifier: Apache-2.0 */
/* Why no bound comes out too small. Let z_j bound the error of the score that is computed here, in binary64
 * (NUM-6), Z = max z_j; it is refused that Z > 2^-30, or n or d > 2^20. All numbers below are then sums and
 * products of terms that are not negative, each off by a factor within 1 + 2^-28: the score and the argument of
 * the exponential change it by at most Z + 2^-33 (an argument below -708 makes a weight that is rounded up to
 * the smallest normal number), a sum of n terms by 2^-33, and what is left are a few roundings of 2^-53 or, for
 * exp and expm1, 2^-52. So a factor 1 + 2^-24 on what is added, and as much of the weights taken from `left`,
 * pays for all of it. Where it is not so, `spare` below, a difference comes in:
 *   - |v_ji - o_i| with o_i computed. That is off by at most spare_i = A_i (4 Z + 2^-30), A_i = sum w_j |v_ji|:
 *     the weights are off by a factor between exp(-t) and exp(t), t = Z + 2^-32, hence the quotient by at most
 *     (exp(2t) - 1) A_i, and the sums and the division by less than 2^-31 A_i.
 *   - high, low and slack are computed from scores: they are moved outwards by Z. */
#include "chunkproof/tolerance.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define SLACK       0x1p-24
#define MOST        (1 << 20)
#define LARGEST_Z   0x1p-30
#define LEAST_SCORE (-708.0) /* exp() of less may be subnormal */
#define UNIT_32     0x1p-24
#define UNIT_64     0x1p-53
#define SMALLEST_32 0x1p-149
#define SMALLEST_64 0x1p-1074
#define COLUMNS     128

/* ---- Formats and classes ---- */

struct cp_format cp_format_fp16(void) {
    return (struct cp_format){0x1p-11, 0x1p-25, 65504.0};
}

struct cp_format cp_format_bf16(void) {
    return (struct cp_format){0x1p-8, 0x1p-134, 0x1.FEp127};
}

struct cp_format cp_format_fp32(void) {
    return (struct cp_format){UNIT_32, 0x1p-150, 0x1.FFFFFEp127};
}

struct cp_format cp_format_fp64(void) {
    return (struct cp_format){UNIT_64, SMALLEST_64, DBL_MAX}; /* half of SMALLEST_64 is no number */
}

struct cp_format cp_format_truncating(struct cp_format format) {
    return (struct cp_format){2.0 * format.unit, 2.0 * format.tiny, format.largest};
}

/* The smallest normal number is tiny / unit: below it the error of a rounding no longer shrinks. */
struct cp_format cp_format_flushing(struct cp_format format) {
    return (struct cp_format){format.unit, format.tiny / format.unit, format.largest};
}

struct cp_counts cp_counts_of_chunks(int chunk_size, int n_chunks) {
    int merges = n_chunks - 1;
    double keys = (double)chunk_size * n_chunks;
    return (struct cp_counts){chunk_size + 2 * merges, chunk_size + 1 + 2 * merges, merges, merges,
                              keys + 5.0 * merges,     2.0 * keys + 5.0 * merges};
}

/* `unit` and `smallest` of the format that all is computed in. An exponential within one unit in the last
 * place is within 2 unit of its value, its logarithm within 2 unit / (1 - 2 unit). */
static struct cp_arithmetic arithmetic_of(int d, double unit, double smallest) {
    struct cp_arithmetic a = {
        .score = {.term_unit = unit,
                  .term_tiny = smallest,
                  .unit = unit,
                  .tiny = 0.0,
                  .depth = d,
                  .n_additions = d,
                  .scale_unit = 3.0 * unit, /* the scale is rounded, too */
                  .scale_tiny = smallest,
                  .scaled_before = 0},
        .u_arg = unit,
        .eps = 2.0 * unit / (1.0 - 2.0 * unit),
        .kappa = smallest,
        .u_n = unit,
        .eta_n = smallest,
        .u_o = unit,
        .eta_o = smallest,
        .u_div = unit,
        .eta_div = smallest,
    };
    return a;
}

struct cp_arithmetic cp_arithmetic_fp32(int d, struct cp_format weights, struct cp_format output) {
    struct cp_arithmetic a = arithmetic_of(d, UNIT_32, SMALLEST_32);
    a.weights = weights;
    a.output = output;
    return a;
}

struct cp_arithmetic cp_arithmetic_fp64(int d) {
    struct cp_arithmetic a = arithmetic_of(d, UNIT_64, SMALLEST_64);
    a.output = cp_format_fp64();
    return a;
}

double cp_score_error(const struct cp_score_arithmetic *a, double scale, int d, double magnitude) {
    double sums = a->depth * log1p(a->unit) + log1p(a->scale_unit);
    double b = a->scaled_before ? 1.0 : fabs(scale);
    double tiny = d * a->term_tiny + a->n_additions * a->tiny;
    return expm1(log1p(a->term_unit) + sums) * magnitude + b * tiny * exp(sums) + a->scale_tiny;
}

/* ---- One row ---- */

/* What is the same for all columns. Sums are in the scale of exp(high): a weight is exp(s_j - high). */
struct row_bounds {
    double largest_z;           /* Z */
    double high, low, slack, h; /* of the references */
    double stretch;             /* S^C */
    double growth_n, growth_o;  /* G_n - 1, G_o - 1 */
    double weights;             /* W */
    double shared;              /* sum H_j */
    double lost_n;              /* E_n */
    double tiny_o;              /* the second part of E_o */
    double left;
};

static double dot(const double *q, const double *key, int d, double *magnitude) {
    double sum = 0.0;
    *magnitude = 0.0;
    for (int i = 0; i < d; i++) {
        sum += q[i] * key[i];
        *magnitude += fabs(q[i] * key[i]);
    }
    return sum;
}

/* Scores and their errors in the class to scratch[j] and scratch[n + j]; what follows from all of them. */
static void compute_scores(const struct cp_arithmetic *a, const struct cp_counts *counts,
                           const struct cp_tolerance_row *row, struct row_bounds *b) {
    struct cp_arithmetic here = cp_arithmetic_fp64(row->head_dim);
    double largest = -INFINITY, smallest = INFINITY;
    for (int j = 0; j < row->n_keys; j++) {
        double magnitude;
        double product =
            dot(row->q, row->k + (ptrdiff_t)j * row->head_dim, row->head_dim, &magnitude);
        double score = row->scale * product;
        magnitude *= fabs(row->scale);
        double z = cp_score_error(&here.score, row->scale, row->head_dim, magnitude);
        double sigma = cp_score_error(&a->score, row->scale, row->head_dim, magnitude);
        row->scratch[j] = score;
        row->scratch[row->n_keys + j] = sigma;
        largest = fmax(largest, score);
        smallest = fmin(smallest, score);
        b->largest_z = fmax(b->largest_z, z);
        b->slack = fmax(b->slack, sigma);
    }
    b->slack *= 1.0 + SLACK;
    b->high = largest + b->largest_z + b->slack + a->above;
    b->low = smallest - b->largest_z - b->slack - (counts->changes + 1.0) * a->below;
    b->slack += a->below;
    b->h = fmax(fabs(b->low), fabs(b->high));
}

/* NUM-5, what sums and stores lose: (1 + u)^k (1 + v)^l - 1 */
static double growth(double u, int k, double v, int l) {
    return expm1(k * log1p(u) + l * log1p(v));
}

/* NUM-9: X_j after so many changes of the reference. */
static double strays(const struct cp_arithmetic *a, const struct row_bounds *b, double score,
                     double sigma, int changes) {
    double way = sigma + (b->high - score + b->largest_z) + 2.0 * b->slack * (changes + 1.0);
    return sigma + a->u_arg * way + a->u_ref * b->h + a->eps +
           changes * (a->eps + 2.0 * a->u_move * b->h);
}

/* NUM-9: from a key's score and sigma in scratch to w_j, H_j, and T_j, the factor of |v_ji|:
 * P_j + (G_o - 1)(w_j + H_j + P_j). */
static void compute_weights(const struct cp_arithmetic *a, const struct cp_counts *counts,
                            const struct cp_tolerance_row *row, struct row_bounds *b) {
    int n = row->n_keys;
    for (int j = 0; j < n; j++) {
        double score = row->scratch[j];
        double sigma = row->scratch[n + j];
        double x = strays(a, b, score, sigma, counts->changes);
        double first = strays(a, b, score, sigma, 0);
        double w = score - b->high < LEAST_SCORE ? DBL_MIN : exp(score - b->high);
        double reach =
            ((exp(b->slack + first) + a->kappa) * (1.0 + a->weights.unit) + a->weights.tiny) *
            b->stretch;
        double rounding = fmax(a->weights.unit * (w + a->kappa), a->weights.tiny);
        double lost = a->kappa * counts->changes * reach;
        double both = a->kappa + lost + (a->rounded_sum ? rounding : 0.0);
        double h = w * expm1(x) + both * exp(x);
        double p = a->rounded_sum ? 0.0 : (rounding + lost) * exp(x);
        row->scratch[j] = w;
        row->scratch[n + j] = h;
        row->scratch[2 * n + j] = p + b->growth_o * (w + h + p);
        b->weights += w;
        b->shared += h;
    }
}

static struct row_bounds bound_row(const struct cp_arithmetic *a, const struct cp_counts *counts,
                                   const struct cp_tolerance_row *row) {
    struct row_bounds b;
    memset(&b, 0, sizeof b);
    compute_scores(a, counts, row, &b);
    double s =
        exp(b.slack + a->u_arg * (b.high - b.low) + 2.0 * a->u_move * b.h + a->eps) + a->kappa;
    b.stretch = pow(s, counts->changes);
    b.growth_n = growth(a->u_n, counts->depth_n, a->u_part, counts->stores);
    b.growth_o = growth(a->u_o, counts->depth_o, a->u_part, counts->stores);
    compute_weights(a, counts, row, &b);
    b.lost_n = b.growth_n * (b.weights + b.shared) +
               counts->operations_n * a->eta_n * b.stretch * (1.0 + b.growth_n);
    b.tiny_o = counts->operations_o * a->eta_o * b.stretch * (1.0 + b.growth_o);
    b.left = b.weights * (1.0 - SLACK) - (b.shared + b.lost_n) * (1.0 + SLACK);
    return b;
}

/* NUM-3 gives E, NUM-10 the bound for column i, from E and o; expected is off by at most `spare`. */
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

/* Sums of one key for `count` columns. */
static void add_value(double w, const double *v, int count, double *sum, double *magnitude) {
    for (int i = 0; i < count; i++) {
        sum[i] += w * v[i];
        magnitude[i] += w * fabs(v[i]);
    }
}

static void add_error(double h, double t, const double *v, int count, const double *expected,
                      const double *spare, double *error) {
    for (int i = 0; i < count; i++) {
        error[i] += h * (fabs(v[i] - expected[i]) + spare[i]) + t * fabs(v[i]);
    }
}

/* Columns first .. first + count - 1, at most COLUMNS: side by side, because they lie so in memory. */
static void bound_some(const struct cp_arithmetic *a, const struct cp_tolerance_row *row,
                       const struct row_bounds *b, int first, int count, double *expected,
                       double *bound) {
    int n = row->n_keys;
    const double *w = row->scratch, *h = w + n, *t = h + n, *v = row->v + first;
    double sum[COLUMNS] = {0.0}, magnitude[COLUMNS] = {0.0}, error[COLUMNS] = {0.0};
    for (int j = 0; j < n; j++) {
        add_value(w[j], v + (ptrdiff_t)j * row->head_dim, count, sum, magnitude);
    }
    for (int i = 0; i < count; i++) {
        sum[i] = sum[i] / b->weights;
        magnitude[i] = magnitude[i] / b->weights * (4.0 * b->largest_z + 0x1p-30); /* spare */
    }
    for (int j = 0; j < n; j++) {
        add_error(h[j], t[j], v + (ptrdiff_t)j * row->head_dim, count, sum, magnitude, error);
    }
    for (int i = 0; i < count; i++) {
        double spare = magnitude[i];
        double all = error[i] + (b->tiny_o + (fabs(sum[i]) + spare) * b->lost_n);
        expected[first + i] = sum[i];
        bound[first + i] = with_output(a, all * (1.0 + SLACK) / b->left, sum[i], spare);
    }
}

static void bound_columns(const struct cp_arithmetic *a, const struct cp_tolerance_row *row,
                          const struct row_bounds *b, double *expected, double *bound) {
    for (int first = 0; first < row->head_dim; first += COLUMNS) {
        int rest = row->head_dim - first;
        bound_some(a, row, b, first, rest < COLUMNS ? rest : COLUMNS, expected, bound);
    }
}

/* NUM-12: no key, or too many. */
static void claim_nothing(const struct cp_tolerance_row *row, double *expected, double *bound,
                          double *lse, double *lse_bound) {
    for (int i = 0; i < row->head_dim; i++) {
        expected[i] = 0.0;
        bound[i] = INFINITY;
    }
    if (lse != NULL) {
        *lse = -INFINITY;
        *lse_bound = INFINITY;
    }
}

void cp_tolerance(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                  const struct cp_tolerance_row *row, double lse_error, double *expected,
                  double *bound, double *lse, double *lse_bound) {
    if (row->n_keys < 1 || row->n_keys > MOST || row->head_dim > MOST) {
        claim_nothing(row, expected, bound, lse, lse_bound);
        return;
    }
    struct row_bounds b = bound_row(arithmetic, counts, row);
    int sure = b.largest_z <= LARGEST_Z && b.left > 0.0 && isfinite(b.left);
    bound_columns(arithmetic, row, &b, expected, bound);
    for (int i = 0; i < row->head_dim; i++) {
        bound[i] = sure && !isnan(bound[i]) ? bound[i] : INFINITY;
    }
    if (lse != NULL) {
        double part = (b.shared + b.lost_n) * (1.0 + SLACK) / (b.weights * (1.0 - SLACK));
        double spare = b.largest_z + 0x1p-30 + 0x1p-50 * fabs(b.high + log(b.weights));
        *lse = b.high + log(b.weights);
        *lse_bound =
            sure && part < 1.0 ? (lse_error - log1p(-part)) * (1.0 + SLACK) + spare : INFINITY;
    }
}
