/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "cli/bound/bound.h"

const char *const bound_part_names[CP_TOLERANCE_PARTS] = {"scores", "exp",    "P",
                                                          "sums",   "merges", "output"};

/* ---- Numbers of the row ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct bound_pair pair_of(double *numbers, int n) {
    struct bound_pair pair = {0.0, 0.0};
    if (n > 0) {
        qsort(numbers, (size_t)n, sizeof *numbers, compare);
        pair.largest = numbers[n - 1];
        pair.median = 0.5 * (numbers[n / 2] + numbers[(n - 1) / 2]);
    }
    return pair;
}

/* A unit in the last place of x in this format. */
static double ulp(int format, double x) {
    int bits = format == CP_FP16 ? 11 : format == CP_BF16 ? 8 : 24;
    int least = format == CP_FP16 ? -14 : -126;
    int exponent = least;
    if (fabs(x) >= ldexp(1.0, least)) {
        (void)frexp(x, &exponent);
        exponent--;
    }
    return ldexp(1.0, exponent - bits + 1);
}

static void largest_scores(const struct bound_row *row, struct bound_figures *f) {
    for (int x = 0; x < row->d; x++) {
        f->largest_query = fmax(f->largest_query, fabs(row->q[x]));
    }
    for (int j = 0; j < row->n; j++) {
        double sum = 0.0, sizes = 0.0;
        for (int x = 0; x < row->d; x++) {
            double product = row->scale * row->q[x] * row->k[(ptrdiff_t)j * row->d + x];
            sum += product;
            sizes += fabs(product);
            f->largest_key = fmax(f->largest_key, fabs(row->k[(ptrdiff_t)j * row->d + x]));
        }
        f->largest_score = fmax(f->largest_score, fabs(sum));
        f->largest_products = fmax(f->largest_products, sizes);
    }
    if (!isfinite(f->largest_products)) {
        f->largest_score = INFINITY; /* a sum of infinities may be anything */
    }
    f->largest_plain = f->largest_score;
}

struct bound_largest bound_largest_of(const struct bound_figures *f) {
    return (struct bound_largest){.score = f->largest_score,
                                  .products = f->largest_products,
                                  .key = f->largest_key,
                                  .shift_error = f->largest_shift_error,
                                  .query = f->largest_query};
}

static void class_of(const struct bound_options *o, const struct bound_row *row,
                     struct bound_figures *f) {
    const struct bound_largest largest = bound_largest_of(f);
    f->largest_sigma = bound_class(o, row, &largest, &f->arithmetic, &f->counts);
}

/* ---- Changed scores ---- */

/* The keys with their shifts. A sink is the first of them (NUM-14). */
struct changed {
    double *shift, *error, *k, *v; /* one allocation, that of shift; k, v: only where a sink is */
};

static int changed_new(struct changed *c, const struct bound_options *o,
                       const struct bound_row *row) {
    size_t n = (size_t)row->n + 1, keys = n * (size_t)row->d, values = n * (size_t)row->d_v;
    size_t copies = o->has_sink ? keys + values : 0;
    c->shift = malloc((2 * n + copies) * sizeof *c->shift);
    if (c->shift == NULL) {
        return -1;
    }
    c->error = c->shift + n;
    c->k = c->error + n;
    c->v = c->k + keys;
    return 0;
}

static void copy_behind_sink(double *to, const double *from, int n, int d) {
    memset(to, 0, (size_t)d * sizeof *to);
    memcpy(to + d, from, (size_t)n * (size_t)d * sizeof *to);
}

/* Of both, with the shift and without it, the larger. Of keys alone, which a sink comes before,
 * that with the shift. */
static void largest_changes(const struct cp_tolerance_row *asked, int n_sinks,
                            struct bound_figures *f) {
    for (int j = 0; j < asked->n_keys; j++) {
        double sum = 0.0;
        for (int i = 0; i < asked->head_dim; i++) {
            sum += asked->q[i] * asked->k[(ptrdiff_t)j * asked->head_dim + i];
        }
        double changed = fabs(asked->scale * sum + asked->shift[j]);
        f->largest_score = fmax(f->largest_score, changed);
        f->largest_changed = j < n_sinks ? 0.0 : fmax(f->largest_changed, changed);
        f->largest_shift_error = fmax(f->largest_shift_error, asked->shift_error[j]);
    }
}

static void change_scores(const struct bound_options *o, const struct bound_row *row,
                          struct changed *c, struct cp_tolerance_row *asked,
                          struct bound_figures *f) {
    const struct bound_largest largest = bound_largest_of(f);
    struct cp_arithmetic a;
    bound_class_of_score(o, row, &largest, &a);
    bound_shift_row(o, row, &a.score, c->shift, c->error);
    if (o->has_sink) {
        copy_behind_sink(c->k, row->k, row->n, row->d);
        copy_behind_sink(c->v, row->v, row->n, row->d_v);
        asked->k = c->k;
        asked->v = c->v;
        asked->n_keys++;
    }
    asked->shift = c->shift;
    asked->shift_error = c->error;
    largest_changes(asked, o->has_sink, f);
    f->largest_changed = isfinite(f->largest_products) ? f->largest_changed : INFINITY;
}

/* ---- Figures ---- */

/* [d] each but the last. */
struct arrays {
    double *expected, *bound, *rms, *parts, *scratch;
};

static void add_shares(const double *bound, const double *parts, int d, struct bound_figures *f) {
    double all = 0.0;
    for (int i = 0; i < d; i++) {
        const double *of = parts + (ptrdiff_t)i * CP_TOLERANCE_PARTS;
        int most = 0;
        for (int p = 0; p < CP_TOLERANCE_PARTS && isfinite(bound[i]); p++) {
            f->share[p] += of[p];
            all += of[p];
            most = of[p] > of[most] ? p : most;
        }
        f->dominates[most] += isfinite(bound[i]);
    }
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        f->share[p] = all > 0.0 ? f->share[p] / all : 0.0;
        f->largest_part = f->share[p] > f->share[f->largest_part] ? p : f->largest_part;
    }
}

/* Keeps the claimed elements' numbers at the front of the arrays. */
static void summarize(const struct bound_options *o, struct arrays *a, int d,
                      struct bound_figures *f) {
    int n = 0;
    double *ulps = a->parts, *sizes = a->expected;
    add_shares(a->bound, a->parts, d, f);
    for (int i = 0; i < d; i++) {
        if (isfinite(a->bound[i])) {
            double size = fabs(a->expected[i]), bound = a->bound[i], rms = a->rms[i];
            a->bound[n] = bound;
            a->rms[n] = rms;
            sizes[n] = size;
            ulps[n] = bound / ulp(o->output, size);
            n++;
        }
    }
    f->claimed = n;
    f->bound = pair_of(a->bound, n);
    f->rms = pair_of(a->rms, n);
    f->size = pair_of(sizes, n);
    f->ulps = pair_of(ulps, n);
}

/* Before they are sorted. */
static void keep(const struct arrays *a, int d, struct bound_numbers *each) {
    size_t size = (size_t)d * sizeof *a->bound;
    memcpy(each->attention, a->expected, size);
    memcpy(each->bound, a->bound, size);
    memcpy(each->rms, a->rms, size);
}

/* Why an element has no bound: what NUM-10 and NUM-12 ask for, in turn. */
static enum bound_reason find_reason(const struct cp_tolerance_row *row, const struct arrays *a,
                                     const struct bound_figures *f) {
    double most = f->arithmetic.output.largest;
    for (int i = 0; i < row->value_dim; i++) {
        double error = 0.0;
        if (isfinite(a->bound[i])) {
            continue;
        }
        for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
            error += a->parts[(ptrdiff_t)i * CP_TOLERANCE_PARTS + p];
        }
        return row->n_keys < 1                                         ? REASON_NO_KEY
               : !isfinite(f->largest_products)                        ? REASON_INFINITE
               : !(f->left > 1e-6)                                     ? REASON_LEFT
               : !(fabs(a->expected[i]) + error < most * (1.0 - 1e-6)) ? REASON_OVERFLOW
                                                                       : REASON_SCORES;
    }
    return REASON_NONE;
}

int bound_figures(const struct bound_options *o, const struct bound_row *row,
                  struct bound_figures *f) {
    return bound_figures_each(o, row, f, NULL);
}

int bound_figures_each(const struct bound_options *o, const struct bound_row *row,
                       struct bound_figures *f, struct bound_numbers *each) {
    size_t d = (size_t)row->d_v, n = (size_t)row->n + 1; /* keys, and a sink */
    double *numbers = malloc(((3 + CP_TOLERANCE_PARTS) * d + 3 * n) * sizeof *numbers);
    struct changed changed = {NULL, NULL, NULL, NULL};
    int is_changed = bound_changes_scores(o, row);
    if (numbers == NULL || (is_changed && changed_new(&changed, o, row) != 0)) {
        free(numbers);
        return -1;
    }
    struct arrays a = {numbers, numbers + d, numbers + 2 * d, numbers + 3 * d,
                       numbers + (3 + CP_TOLERANCE_PARTS) * d};
    struct cp_tolerance_row asked = {row->n, row->d, row->d_v,  row->scale, row->q,
                                     row->k, row->v, a.scratch, NULL,       NULL};
    double lse;
    memset(f, 0, sizeof *f);
    f->elements = row->d_v;
    largest_scores(row, f);
    if (is_changed) {
        change_scores(o, row, &changed, &asked, f);
    }
    class_of(o, row, f);
    cp_tolerance(&f->arithmetic, &f->counts, &asked, 0.0, a.expected, a.bound, &lse, &f->lse_bound);
    f->left = cp_tolerance_parts(&f->arithmetic, &f->counts, &asked, a.expected, a.parts, f->lost);
    cp_tolerance_rms(&f->arithmetic, &f->counts, &asked, a.expected, a.rms);
    f->reason = find_reason(&asked, &a, f);
    if (each != NULL) {
        keep(&a, row->d_v, each);
    }
    summarize(o, &a, row->d_v, f);
    free(changed.shift);
    free(numbers);
    return 0;
}
