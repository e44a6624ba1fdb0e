/* SPDX-License-Identifier: Apache-2.0 */
/* Each number is an interval that contains the exact value: MPFI rounds its ends outwards. The
 * names are those of NUM-9. Numbers live in a pool until the row is done, so that a formula can be
 * written as one. */
#include "exact_bound.h"

#include <assert.h>
#include <math.h>
#include <mpfi.h>
#include <stddef.h>
#include <stdlib.h>

#define BITS 400

/* What the rounding of cp_tolerance() may add: a factor, and a few of the smallest numbers. */
#define CLOSE 0x1p-24
/* An infinite bound needs one of these reasons, up to this factor. */
#define NEARLY (1.0 + 0x1p-20)

typedef mpfi_ptr interval;

#define OF_BLOCK 256

struct block {
    mpfi_t number[OF_BLOCK];
    struct block *next;
};

struct pool {
    struct block *first;
    int used; /* of the first block */
};

static interval new_number(struct pool *p) {
    if (p->first == NULL || p->used == OF_BLOCK) {
        struct block *block = malloc(sizeof *block);
        assert(block != NULL);
        for (int i = 0; i < OF_BLOCK; i++) {
            mpfi_init2(block->number[i], BITS);
        }
        block->next = p->first;
        p->first = block;
        p->used = 0;
    }
    return p->first->number[p->used++];
}

static void free_numbers(struct pool *p) {
    while (p->first != NULL) {
        struct block *block = p->first;
        p->first = block->next;
        for (int i = 0; i < OF_BLOCK; i++) {
            mpfi_clear(block->number[i]);
        }
        free(block);
    }
}

static interval number(struct pool *p, double x) {
    interval r = new_number(p);
    mpfi_set_d(r, x);
    return r;
}

#define BINARY(name, operation)                                                                    \
    static interval name(struct pool *p, interval x, interval y) {                                 \
        interval r = new_number(p);                                                                \
        operation(r, x, y);                                                                        \
        return r;                                                                                  \
    }
BINARY(plus, mpfi_add)
BINARY(minus, mpfi_sub)
BINARY(times, mpfi_mul)
BINARY(over, mpfi_div)

#define UNARY(name, operation)                                                                     \
    static interval name(struct pool *p, interval x) {                                             \
        interval r = new_number(p);                                                                \
        operation(r, x);                                                                           \
        return r;                                                                                  \
    }
UNARY(size_of, mpfi_abs)
UNARY(exponential, mpfi_exp)
UNARY(exponential_minus_1, mpfi_expm1)
UNARY(logarithm, mpfi_log)
UNARY(logarithm_plus_1, mpfi_log1p)
UNARY(opposite, mpfi_neg)

static interval larger(struct pool *p, interval x, interval y) {
    interval r = new_number(p);
    mpfr_max(&r->left, &x->left, &y->left, MPFR_RNDD);
    mpfr_max(&r->right, &x->right, &y->right, MPFR_RNDU);
    return r;
}

static interval sum3(struct pool *p, interval x, interval y, interval z) {
    return plus(p, plus(p, x, y), z);
}

static interval product3(struct pool *p, interval x, interval y, interval z) {
    return times(p, times(p, x, y), z);
}

/* k ln(1 + u): of the growth (1 + u)^k. */
static interval grown(struct pool *p, double u, double k) {
    return times(p, number(p, k), logarithm_plus_1(p, number(p, u)));
}

struct key {
    interval s, sigma, w, h, p; /* score; w_j, H_j, P_j, of the sum 1 */
    interval grown;             /* exp(X_j) */
};

struct exact_row {
    struct pool *p;
    const struct cp_arithmetic *a;
    const struct cp_counts *counts;
    const struct cp_tolerance_row *row;
    struct key *key;
    interval high, low, slack, h; /* of the references */
    interval of_high;             /* exp(high) / W */
    interval lse, stretch;        /* S^C */
    interval score_growth;        /* (1 + u)^k (1 + u') */
    interval g_n, g_o;            /* G - 1 */
    interval e_n, left;
};

/* NUM-6, NUM-14. */
static void find_score(struct exact_row *r, int j) {
    const struct cp_score_arithmetic *a = &r->a->score;
    const struct cp_tolerance_row *row = r->row;
    struct pool *p = r->p;
    interval sum = number(p, 0.0), magnitude = number(p, 0.0), scale = number(p, row->scale);
    for (int x = 0; x < row->head_dim; x++) {
        interval product =
            times(p, number(p, row->q[x]), number(p, row->k[(ptrdiff_t)j * row->head_dim + x]));
        sum = plus(p, sum, product);
        magnitude = plus(p, magnitude, size_of(p, product));
    }
    interval of_sums = plus(p, grown(p, a->unit, a->depth), grown(p, a->scale_unit, 1.0));
    interval relative = exponential_minus_1(p, plus(p, grown(p, a->term_unit, 1.0), of_sums));
    interval b = a->scaled_before ? number(p, 1.0) : size_of(p, scale);
    interval lost = plus(p, times(p, number(p, row->head_dim), number(p, a->term_tiny)),
                         times(p, number(p, a->n_additions), number(p, a->tiny)));
    r->score_growth = exponential(p, of_sums);
    r->key[j].s = times(p, scale, sum);
    r->key[j].sigma = sum3(p, product3(p, relative, size_of(p, scale), magnitude),
                           product3(p, b, lost, r->score_growth), number(p, a->scale_tiny));
    if (row->shift != NULL) { /* NUM-14 */
        r->key[j].s = plus(p, r->key[j].s, number(p, row->shift[j]));
        r->key[j].sigma = plus(p, r->key[j].sigma, number(p, row->shift_error[j]));
    }
}

/* NUM-7, and W. */
static void find_references(struct exact_row *r) {
    struct pool *p = r->p;
    const struct key *key = r->key;
    interval largest = key[0].s, smallest = opposite(p, key[0].s), sigma = key[0].sigma;
    for (int j = 1; j < r->row->n_keys; j++) {
        largest = larger(p, largest, key[j].s);
        smallest = larger(p, smallest, opposite(p, key[j].s));
        sigma = larger(p, sigma, key[j].sigma);
    }
    interval below = times(p, number(p, r->counts->changes + 1.0), number(p, r->a->below));
    r->high = sum3(p, largest, sigma, number(p, r->a->above));
    r->low = opposite(p, sum3(p, smallest, sigma, below));
    r->slack = plus(p, sigma, number(p, r->a->below));
    r->h = larger(p, size_of(p, r->high), size_of(p, r->low));
    interval weights = number(p, 0.0);
    for (int j = 0; j < r->row->n_keys; j++) {
        weights = plus(p, weights, exponential(p, minus(p, key[j].s, largest)));
    }
    r->lse = plus(p, largest, logarithm(p, weights));
    r->of_high = exponential(p, minus(p, r->high, r->lse));
}

/* X_j after C changes. */
static interval stray(const struct exact_row *r, const struct key *key, double changes) {
    struct pool *p = r->p;
    interval u_arg = number(p, r->a->u_arg), eps = number(p, r->a->eps);
    interval moved = product3(p, number(p, 2.0), number(p, r->a->u_move), r->h);
    interval way = sum3(p, key->sigma, minus(p, r->high, key->s),
                        product3(p, number(p, 2.0), r->slack, number(p, changes + 1.0)));
    interval once = sum3(p, plus(p, key->sigma, times(p, u_arg, way)),
                         times(p, number(p, r->a->u_ref), r->h), eps);
    return plus(p, once, times(p, number(p, changes), plus(p, eps, moved)));
}

/* NUM-9: H_j and P_j. */
static void find_weight(const struct exact_row *r, struct key *key) {
    struct pool *p = r->p;
    const struct cp_arithmetic *a = r->a;
    interval kappa = number(p, a->kappa), u_p = number(p, a->weights.unit);
    interval eta_p = number(p, a->weights.tiny), one = number(p, 1.0);
    interval x = stray(r, key, r->counts->changes), first = stray(r, key, 0.0);
    interval largest = plus(p, exponential(p, plus(p, r->slack, first)), kappa);
    largest = times(p, plus(p, times(p, largest, plus(p, one, u_p)), eta_p), r->stretch);
    interval missing = times(p, kappa, r->of_high);
    interval rounded =
        larger(p, times(p, u_p, plus(p, key->w, missing)), times(p, eta_p, r->of_high));
    interval lost = product3(p, missing, number(p, r->counts->changes), largest);
    interval both = plus(p, missing, lost);
    if (a->rounded_sum) {
        both = plus(p, both, rounded);
    }
    key->grown = exponential(p, x);
    key->h = plus(p, times(p, key->w, exponential_minus_1(p, x)), times(p, both, key->grown));
    key->p = a->rounded_sum ? number(p, 0.0) : times(p, plus(p, rounded, lost), key->grown);
}

/* N eta S^C G exp(high) / W */
static interval tiny_losses(const struct exact_row *r, double operations, double eta, interval g) {
    struct pool *p = r->p;
    interval all = product3(p, number(p, operations), number(p, eta), r->stretch);
    return product3(p, all, plus(p, number(p, 1.0), g), r->of_high);
}

static void find_row(struct exact_row *r) {
    struct pool *p = r->p;
    const struct cp_arithmetic *a = r->a;
    const struct cp_counts *c = r->counts;
    for (int j = 0; j < r->row->n_keys; j++) {
        find_score(r, j);
    }
    find_references(r);
    interval moved = product3(p, number(p, 2.0), number(p, a->u_move), r->h);
    interval argument = times(p, number(p, a->u_arg), minus(p, r->high, r->low));
    interval s =
        plus(p, exponential(p, plus(p, sum3(p, r->slack, argument, moved), number(p, a->eps))),
             number(p, a->kappa));
    r->stretch = exponential(p, times(p, number(p, c->changes), logarithm(p, s)));
    r->g_n = exponential_minus_1(
        p, plus(p, grown(p, a->u_n, c->depth_n), grown(p, a->u_part, c->stores)));
    r->g_o = exponential_minus_1(
        p, plus(p, grown(p, a->u_o, c->depth_o), grown(p, a->u_part, c->stores)));
    interval shared = number(p, 0.0), all = number(p, 0.0);
    for (int j = 0; j < r->row->n_keys; j++) {
        r->key[j].w = exponential(p, minus(p, r->key[j].s, r->lse));
        find_weight(r, &r->key[j]);
        shared = plus(p, shared, r->key[j].h);
        all = plus(p, all, plus(p, r->key[j].w, r->key[j].h));
    }
    r->e_n = plus(p, times(p, r->g_n, all), tiny_losses(r, c->operations_n, a->eta_n, r->g_n));
    r->left = minus(p, minus(p, number(p, 1.0), shared), r->e_n);
}

/* NUM-10 for a column. */
struct column {
    interval o, before, bound; /* o, E', B */
};

static struct column find_column(const struct exact_row *r, int i) {
    struct pool *p = r->p;
    const struct cp_arithmetic *a = r->a;
    const double *v = r->row->v + i;
    interval o = number(p, 0.0), error = number(p, 0.0), all = number(p, 0.0);
    for (int j = 0; j < r->row->n_keys; j++) {
        interval value = number(p, v[(ptrdiff_t)j * r->row->head_dim]);
        o = plus(p, o, times(p, r->key[j].w, value));
    }
    for (int j = 0; j < r->row->n_keys; j++) {
        const struct key *key = &r->key[j];
        interval value = number(p, v[(ptrdiff_t)j * r->row->head_dim]), size = size_of(p, value);
        error = sum3(p, error, times(p, key->h, size_of(p, minus(p, value, o))),
                     times(p, key->p, size));
        all = plus(p, all, times(p, sum3(p, key->w, key->h, key->p), size));
    }
    interval e_o =
        plus(p, times(p, r->g_o, all), tiny_losses(r, r->counts->operations_o, a->eta_o, r->g_o));
    interval e = over(p, sum3(p, error, e_o, times(p, size_of(p, o), r->e_n)), r->left);
    interval before =
        sum3(p, e, times(p, number(p, a->u_div), plus(p, size_of(p, o), e)), number(p, a->eta_div));
    interval written = times(p, number(p, a->output.unit), plus(p, size_of(p, o), before));
    return (struct column){o, before,
                           plus(p, before, larger(p, written, number(p, a->output.tiny)))};
}

static double highest(interval x) {
    return mpfr_get_d(&x->right, MPFR_RNDU);
}

static double lowest(interval x) {
    return mpfr_get_d(&x->left, MPFR_RNDD);
}

/* How far scores that binary64 computes may be off, about. */
static double score_error(const struct exact_row *r) {
    double largest = 0.0;
    for (int j = 0; j < r->row->n_keys; j++) {
        double magnitude = 0.0;
        for (int x = 0; x < r->row->head_dim; x++) {
            magnitude += fabs(r->row->q[x] * r->row->k[(ptrdiff_t)j * r->row->head_dim + x]);
        }
        double error = (r->row->head_dim + 4.0) * 0x1p-53 * magnitude * fabs(r->row->scale);
        if (r->row->shift != NULL) {
            error += 0x1p-52 * fmax(highest(r->key[j].s), -lowest(r->key[j].s));
        }
        largest = fmax(largest, error);
    }
    return largest;
}

/* How much larger cp_tolerance() makes an X_j, because its references are moved outwards. */
static double moved_outwards(const struct exact_row *r) {
    const struct cp_arithmetic *a = r->a;
    double changes = r->counts->changes + 2.0;
    return score_error(r) * (4.0 * a->u_arg * changes + a->u_ref + 2.0 * a->u_move * changes);
}

/* What its weights are off, and their sum. */
static double weights_error(const struct exact_row *r) {
    return 64.0 * (score_error(r) + (r->row->n_keys + 1000.0) * 0x1p-53);
}

/* Is there a number in the formula that binary64 cannot have, or scores that it cannot compute well
 * enough? */
static int is_beyond(const struct exact_row *r) {
    double most = fmax(highest(r->of_high), highest(r->stretch));
    most = fmax(most, highest(r->score_growth));
    double operations = 2.0 + fmax(r->counts->operations_n, r->counts->operations_o);
    double growths = 2.0 + highest(r->g_n) + highest(r->g_o);
    most = fmax(most, operations * fmax(1.0, highest(r->of_high)) * highest(r->stretch) * growths);
    for (int j = 0; j < r->row->n_keys; j++) {
        most = fmax(most, fmax(highest(r->key[j].h), highest(r->key[j].p)));
        most = fmax(most, highest(r->key[j].grown));
    }
    return !(most < 1e290) || !(highest(r->g_n) < 1e290) || !(highest(r->g_o) < 1e290) ||
           score_error(r) * NEARLY > 0x1p-30 || moved_outwards(r) > 0x1p-24;
}

/* Of a claim that every number within `bound` of `middle` is near x; `needed` is B. `own` is what
 * the claim may be off by itself, beside CLOSE. What weights are off counts by how little is
 * left. */
static enum claim judge(const struct exact_row *r, double bound, double middle, interval x,
                        interval needed, double own) {
    struct pool *p = r->p;
    double most_grown = 0.0;
    for (int j = 0; j < r->row->n_keys; j++) {
        most_grown = fmax(most_grown, highest(r->key[j].grown));
    }
    double close = CLOSE + (weights_error(r) + moved_outwards(r) * most_grown) / lowest(r->left);
    interval off = size_of(p, minus(p, number(p, middle), x)), all = plus(p, needed, off);
    interval most = plus(p, times(p, needed, number(p, 1.0 + close)), number(p, own));
    interval claimed = number(p, bound);
    return mpfr_less_p(&claimed->left, &all->right)       ? CLAIM_TOO_SMALL
           : mpfr_greater_p(&claimed->right, &most->left) ? CLAIM_TOO_LARGE
                                                          : CLAIM_HOLDS;
}

static enum claim judge_column(const struct exact_row *r, int i, double expected, double bound) {
    if (mpfr_sgn(&r->left->left) <= 0 || score_error(r) > 0x1p-29) {
        return isfinite(bound) ? CLAIM_UNFOUNDED : CLAIM_HOLDS;
    }
    struct column c = find_column(r, i);
    double written = highest(plus(r->p, size_of(r->p, c.o), c.before));
    if (!isfinite(bound)) {
        int needed = is_beyond(r) || lowest(r->left) < 0x1p-20 || !(highest(c.bound) < 1e290) ||
                     written * NEARLY >= r->a->output.largest;
        return needed ? CLAIM_HOLDS : CLAIM_WITHOUT_NEED;
    }
    if (written > r->a->output.largest) {
        return CLAIM_UNFOUNDED;
    }
    /* Its own roundings: of the values, and of weights that are not computed, because they are
     * below 2^-1021. */
    double own = 0.0;
    for (int j = 0; j < r->row->n_keys; j++) {
        double weight = highest(r->key[j].w), faint = 0x1p-1020 * highest(r->key[j].grown);
        double size = fabs(r->row->v[(ptrdiff_t)j * r->row->head_dim + i]) + fabs(expected);
        own += (weight < 0x1p-1000 ? faint : 0x1p-20 * weight) * size;
    }
    own = own * (1.0 + highest(r->g_o)) / fmin(1.0, lowest(r->left)) + 0x1p-1040;
    own *= (1.0 + r->a->u_div) * (1.0 + r->a->output.unit);
    return judge(r, bound, expected, c.o, c.bound, lowest(r->left) < 0x1p-20 ? INFINITY : own);
}

static enum claim judge_lse(const struct exact_row *r, double lse_error, double lse, double bound) {
    struct pool *p = r->p;
    if (mpfr_sgn(&r->left->left) <= 0 || score_error(r) > 0x1p-29) {
        return isfinite(bound) ? CLAIM_UNFOUNDED : CLAIM_HOLDS;
    }
    if (!isfinite(bound)) {
        return is_beyond(r) || lowest(r->left) < 0x1p-20 ? CLAIM_HOLDS : CLAIM_WITHOUT_NEED;
    }
    interval needed = minus(p, number(p, lse_error), logarithm(p, r->left));
    double own = lowest(r->left) < 0x1p-20
                     ? INFINITY
                     : weights_error(r) + 4.0 * moved_outwards(r) + 0x1p-49 * fabs(lse);
    return judge(r, bound, lse, r->lse, needed, own);
}

void exact_bound_judge(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                       const struct cp_tolerance_row *row, double lse_error, const double *expected,
                       const double *bound, double lse, double lse_bound, enum claim *columns,
                       enum claim *of_lse) {
    struct pool p = {NULL, 0};
    struct exact_row r = {.p = &p, .a = arithmetic, .counts = counts, .row = row};
    r.key = calloc((size_t)row->n_keys, sizeof *r.key);
    assert(r.key != NULL);
    find_row(&r);
    for (int i = 0; i < row->head_dim; i++) {
        columns[i] = judge_column(&r, i, expected[i], bound[i]);
    }
    *of_lse = judge_lse(&r, lse_error, lse, lse_bound);
    free(r.key);
    free_numbers(&p);
}
