/* SPDX-License-Identifier: Apache-2.0 */
/* How it decides. The scores s_j are exact: sums of products of doubles, in as many bits as they
 * need. With p bits everything else is computed to the nearest, each step off by a factor 1 + e,
 * |e| <= 2^-p:
 *     w_j = exp(s_j - M), N = sum w_j, O_i = sum w_j v_ji, A_i = sum w_j |v_ji|, o_i = O_i / N.
 * mpfr_sum() rounds a sum once. So, with u = 2^-p and n keys, N is off by a factor within (1 + u)^2
 * and O_i by at most 3u A_i (a weight 1, a product 1, the sum 1, and u^2 terms), and o_i by at most
 *     8u (A_i + |O_i|) / N =: E_i
 * for any p >= 64. If o_i - E_i and o_i + E_i round to the same number, so does the exact result.
 * If not, p is doubled (Ziv).
 *
 * That ends unless the exact result is a midpoint t between two numbers of the format. Then t = o_i
 * is algebraic and sum_j e^(s_j) (v_ji - t) = 0; the s_j are algebraic too. By the theorem of
 * Lindemann and Weierstrass the e^s of distinct s are linearly independent over the algebraic
 * numbers: for each distinct score, the keys that have it have values v_ji of mean t. That is a
 * question about rational numbers, and is_exactly() answers it. Likewise ln sum e^(s_j) is
 * algebraic only when there is one key, and is s_1. */
#include "exact.h"

#include <assert.h>
#include <math.h>
#include <mpfr.h>
#include <stddef.h>
#include <stdlib.h>

#include "chunkproof/number.h"

/* Enough for any sum of products of doubles, times a double, and a double more: exponents from
 * -3222 to 3072 and a sum of less than 2^30 terms. */
#define MOST_BITS 6400
/* From so many bits on it is asked whether there is a tie. */
#define TIE_BITS 256

struct row {
    const double *q, *k, *v;
    int n, d;
    double scale;
    const double *shift;
    mpfr_t *score;  /* [n], exact */
    mpfr_t *weight; /* [n] */
    mpfr_t *term;   /* [n] */
    mpfr_ptr *list; /* [n]: where the terms are, as mpfr_sum() wants it */
    mpfr_t largest; /* M */
};

static void exactly(int inexact) {
    assert(inexact == 0);
    (void)inexact;
}

static mpfr_t *new_numbers(int n, mpfr_prec_t bits) {
    mpfr_t *x = malloc((size_t)n * sizeof *x);
    assert(x != NULL);
    for (int j = 0; j < n; j++) {
        mpfr_init2(x[j], bits);
    }
    return x;
}

static void free_numbers(mpfr_t *x, int n) {
    for (int j = 0; j < n; j++) {
        mpfr_clear(x[j]);
    }
    free(x);
}

/* 1 when all scores are exact with so many bits. */
static int compute_scores(struct row *row, mpfr_prec_t bits) {
    int inexact = 0;
    mpfr_t q, product;
    mpfr_init2(q, 53);
    mpfr_init2(product, 106);
    for (int j = 0; j < row->n; j++) {
        mpfr_set_prec(row->score[j], bits);
        mpfr_set_zero(row->score[j], 1);
        for (int x = 0; x < row->d; x++) {
            inexact |= mpfr_set_d(q, row->q[x], MPFR_RNDN);
            inexact |= mpfr_mul_d(product, q, row->k[(ptrdiff_t)j * row->d + x], MPFR_RNDN);
            inexact |= mpfr_add(row->score[j], row->score[j], product, MPFR_RNDN);
        }
        inexact |= mpfr_mul_d(row->score[j], row->score[j], row->scale, MPFR_RNDN);
        if (row->shift != NULL) {
            inexact |= mpfr_add_d(row->score[j], row->score[j], row->shift[j], MPFR_RNDN);
        }
    }
    mpfr_clear(q);
    mpfr_clear(product);
    return inexact == 0;
}

static void find_largest(struct row *row) {
    mpfr_init2(row->largest, mpfr_get_prec(row->score[0]));
    exactly(mpfr_set(row->largest, row->score[0], MPFR_RNDN));
    for (int j = 1; j < row->n; j++) {
        if (mpfr_greater_p(row->score[j], row->largest)) {
            exactly(mpfr_set(row->largest, row->score[j], MPFR_RNDN));
        }
    }
}

/* exp(s_j - M), with p bits. */
static void compute_weights(struct row *row, mpfr_prec_t p) {
    mpfr_t difference;
    mpfr_init2(difference, 2 * MOST_BITS);
    for (int j = 0; j < row->n; j++) {
        exactly(mpfr_sub(difference, row->score[j], row->largest, MPFR_RNDN));
        mpfr_set_prec(row->weight[j], p);
        mpfr_exp(row->weight[j], difference, MPFR_RNDN);
    }
    mpfr_clear(difference);
}

/* Bits of the significand, exponent of the smallest subnormal, and the number from which on the
 * nearest is an infinity, which is largest * (1 + 2^-bits) or so. */
struct format {
    int bits;
    int smallest;
    int beyond; /* 2^beyond is the first power of two that the format lacks */
};

static struct format format_of(int type) {
    static const struct format formats[] = {[CP_FP16] = {11, -24, 16},
                                            [CP_FP32] = {24, -149, 128},
                                            [CP_FP64] = {53, -1074, 1024},
                                            [CP_BF16] = {8, -133, 128}};
    assert(CP_FP16 <= type && type <= CP_BF16);
    return formats[type];
}

/* The number of the format that is nearest to x, ties to even. */
static double nearest(mpfr_srcptr x, int type) {
    struct format format = format_of(type);
    double result;
    mpfr_t unit;
    if (mpfr_zero_p(x)) {
        return 0.0;
    }
    long exponent =
        (long)mpfr_get_exp(x) - format.bits; /* of the last bit of a number as large as x */
    if (exponent < format.smallest) {
        exponent = format.smallest;
    }
    mpfr_init2(unit, mpfr_get_prec(x));
    exactly(mpfr_mul_2si(unit, x, -exponent, MPFR_RNDN));
    mpfr_roundeven(unit, unit);
    exactly(mpfr_mul_2si(unit, unit, exponent, MPFR_RNDN));
    if (!mpfr_zero_p(unit) && mpfr_get_exp(unit) > format.beyond) {
        result = mpfr_sgn(unit) > 0 ? INFINITY : -INFINITY;
    } else {
        result = mpfr_get_d(unit, MPFR_RNDN);
    }
    mpfr_clear(unit);
    return result;
}

/* Is the exact result of element i equal to t? See above: for each distinct score, the mean of the
 * values of its keys must be t. */
static int is_exactly(const struct row *row, int i, mpfr_srcptr t) {
    mpfr_t sum, part;
    int equal = 1;
    mpfr_init2(sum, MOST_BITS);
    mpfr_init2(part, MOST_BITS);
    for (int j = 0; j < row->n && equal; j++) {
        mpfr_set_zero(sum, 1);
        for (int l = 0; l < row->n; l++) {
            if (mpfr_equal_p(row->score[l], row->score[j])) {
                exactly(mpfr_d_sub(part, row->v[(ptrdiff_t)l * row->d + i], t, MPFR_RNDN));
                exactly(mpfr_add(sum, sum, part, MPFR_RNDN));
            }
        }
        equal = mpfr_zero_p(sum);
    }
    mpfr_clear(sum);
    mpfr_clear(part);
    return equal;
}

/* The nearest number of the format to an exact result that lies within `error` of `about`. Returns
 * 0 when this does not say which. */
static int decide(mpfr_srcptr about, mpfr_srcptr error, int type, double *result) {
    mpfr_t low, high;
    mpfr_init2(low, mpfr_get_prec(about) + 64);
    mpfr_init2(high, mpfr_get_prec(about) + 64);
    mpfr_sub(low, about, error, MPFR_RNDD);
    mpfr_add(high, about, error, MPFR_RNDU);
    *result = nearest(low, type);
    int decided = *result == nearest(high, type);
    mpfr_clear(low);
    mpfr_clear(high);
    return decided;
}

/* The midpoint that lies within the error of `about`, with all its bits, in t. */
static void find_midpoint(mpfr_srcptr about, int type, mpfr_ptr t) {
    struct format format = format_of(type);
    mpfr_t magnitude;
    long exponent = mpfr_zero_p(about) ? format.smallest : (long)mpfr_get_exp(about) - format.bits;
    if (exponent < format.smallest) {
        exponent = format.smallest;
    }
    mpfr_init2(magnitude, mpfr_get_prec(about));
    mpfr_mul_2si(magnitude, about, 1 - exponent, MPFR_RNDN); /* in halves of the last bit */
    mpfr_roundeven(t, magnitude);
    exactly(mpfr_mul_2si(t, t, exponent - 1, MPFR_RNDN));
    mpfr_clear(magnitude);
}

/* *about = sum_j w_j v_ji / N with p bits, and the bound of its error. */
static void estimate(struct row *row, int i, mpfr_srcptr normaliser, mpfr_ptr about,
                     mpfr_ptr error) {
    mpfr_prec_t p = mpfr_get_prec(about);
    for (int j = 0; j < row->n; j++) {
        mpfr_set_prec(row->term[j], p);
        mpfr_mul_d(row->term[j], row->weight[j], row->v[(ptrdiff_t)j * row->d + i], MPFR_RNDN);
        row->list[j] = row->term[j];
    }
    mpfr_sum(about, row->list, (unsigned long)row->n, MPFR_RNDN);
    for (int j = 0; j < row->n; j++) {
        exactly(mpfr_abs(row->term[j], row->term[j], MPFR_RNDN));
    }
    mpfr_sum(error, row->list, (unsigned long)row->n, MPFR_RNDU);
    if (mpfr_sgn(about) >= 0) {
        mpfr_add(error, error, about, MPFR_RNDU);
    } else {
        mpfr_sub(error, error, about, MPFR_RNDU);
    }
    mpfr_div(error, error, normaliser, MPFR_RNDU);
    mpfr_mul_2si(error, error, 3 - (long)p, MPFR_RNDU);
    mpfr_div(about, about, normaliser, MPFR_RNDN);
}

/* Elements that p bits decide; returns how many of all are not decided yet. done[i] says which
 * are. */
static int round_elements(struct row *row, int type, mpfr_prec_t p, double *out, char *done) {
    int left = 0;
    mpfr_t normaliser, about, error, midpoint;
    mpfr_inits2(p, normaliser, about, error, midpoint, (mpfr_ptr)0);
    compute_weights(row, p);
    for (int j = 0; j < row->n; j++) {
        row->list[j] = row->weight[j];
    }
    mpfr_sum(normaliser, row->list, (unsigned long)row->n, MPFR_RNDN);
    for (int i = 0; i < row->d; i++) {
        if (done[i]) {
            continue;
        }
        estimate(row, i, normaliser, about, error);
        done[i] = (char)decide(about, error, type, &out[i]);
        if (!done[i] && p >= TIE_BITS) {
            find_midpoint(about, type, midpoint);
            if (is_exactly(row, i, midpoint)) {
                out[i] = nearest(midpoint, type);
                done[i] = 1;
            }
        }
        left += !done[i];
    }
    mpfr_clears(normaliser, about, error, midpoint, (mpfr_ptr)0);
    return left;
}

/* M + ln N. With N off by a factor within (1 + u)^2 its logarithm is off by at most 3u; the
 * logarithm's own rounding adds u ln N, the last addition u of the result. */
static int round_lse(struct row *row, mpfr_prec_t p, double *lse) {
    mpfr_t sum, error, about;
    if (row->n == 1) {
        *lse = mpfr_get_d(row->largest, MPFR_RNDN);
        return 1;
    }
    mpfr_inits2(p, sum, error, about, (mpfr_ptr)0);
    compute_weights(row, p);
    for (int j = 0; j < row->n; j++) {
        row->list[j] = row->weight[j];
    }
    mpfr_sum(sum, row->list, (unsigned long)row->n, MPFR_RNDN);
    mpfr_log(sum, sum, MPFR_RNDN);
    mpfr_add(about, row->largest, sum, MPFR_RNDN);
    mpfr_abs(error, about, MPFR_RNDU);
    mpfr_add(error, error, sum, MPFR_RNDU);
    mpfr_add_ui(error, error, 4, MPFR_RNDU);
    mpfr_mul_2si(error, error, 1 - (long)p, MPFR_RNDU);
    int decided = decide(about, error, CP_FP64, lse);
    mpfr_clears(sum, error, about, (mpfr_ptr)0);
    return decided;
}

int exact_attention(const double *q, const double *k, const double *v, int n, int d, double scale,
                    const double *shift, int type, int precision, double *out, double *lse) {
    struct row row = {.q = q, .k = k, .v = v, .n = n, .d = d, .scale = scale, .shift = shift};
    int p = precision;
    for (int i = 0; i < d; i++) {
        out[i] = 0.0;
    }
    *lse = -INFINITY;
    if (n == 0) {
        return 0;
    }
    row.score = new_numbers(n, 192);
    row.weight = new_numbers(n, 64);
    row.term = new_numbers(n, 64);
    row.list = malloc((size_t)n * sizeof *row.list);
    char *done = calloc((size_t)d + 1, 1);
    assert(precision >= 64 && row.list != NULL && done != NULL);
    if (!compute_scores(&row, 192) && !compute_scores(&row, MOST_BITS)) {
        assert(!"scores fit into MOST_BITS");
    }
    find_largest(&row);
    while (round_elements(&row, type, p, out, done) > 0) {
        p *= 2;
    }
    int most = p;
    for (p = precision; !round_lse(&row, p, lse);) {
        p *= 2;
    }
    mpfr_clear(row.largest);
    free_numbers(row.score, n);
    free_numbers(row.weight, n);
    free_numbers(row.term, n);
    free(row.list);
    free(done);
    return most > p ? most : p;
}
