/* SPDX-License-Identifier: Apache-2.0 */
/* An operation is done in double and rounded once more: for the types up to binary32 the result is
 * that of one rounding, because double has more than twice their digits. */
#include "merging_kernels.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "chunkproof/number.h"
#include "random.h"

#define LN_2  0x1.62e42fefa39efp-1
#define LOG_2 0x1.71547652b82fep+0 /* log2(e) */

/* A part, or what some parts were merged to: reference or log-sum-exp, n, o; the largest
 * log-sum-exp of its parts, or what stands for it. */
struct state {
    double m, n, largest;
    double o[MERGING_MOST_DIM];
    int is_merged; /* 0: a part as it was given */
};

/* A kernel at work on a row. */
struct work {
    const struct merging_kernel *kernel;
    const struct cp_merging_row *row;
    unsigned long long *random;
    int type; /* of weights, n and logarithms */
};

double merging_round(int type, double x) {
    unsigned char place[8];
    double y;
    memset(place, 0, sizeof place);
    cp_number_store(place, type, 0, x);
    y = cp_number_load(place, type, 0);
    return y;
}

static double smallest_normal(int type) {
    return type == CP_FP16 ? 0x1p-14 : type == CP_FP64 ? 0x1p-1022 : 0x1p-126;
}

/* y is above x in magnitude: the number before it. The stored integers are in order. */
static double towards_zero(int type, double y) {
    if (type == CP_FP64) {
        return nextafter(y, 0.0);
    }
    if (type == CP_FP32) {
        return (double)nextafterf((float)y, 0.0F);
    }
    uint16_t bits = type == CP_FP16 ? cp_fp16_from_double(y) : cp_bf16_from_double(y);
    bits = (uint16_t)(bits - 1);
    return type == CP_FP16 ? cp_fp16_to_double(bits) : cp_bf16_to_double(bits);
}

static double as(const struct work *w, int type, double x) {
    const struct cp_merging_class *declared = &w->kernel->declared;
    double y = merging_round(type, x);
    if (declared->truncates && fabs(y) > fabs(x) && isfinite(y)) {
        y = towards_zero(type, y);
    }
    return declared->flushes && fabs(y) < smallest_normal(type) ? 0.0 * y : y;
}

/* The same, of what is stored in a type that may be wider. */
static double stored(const struct work *w, int type, double x) {
    return type == CP_FP64 ? x : as(w, type, x);
}

/* From -error to error, less what the rounding of the result has of it: at an end, more often than
 * not. */
static double stray(const struct work *w, double error) {
    int which = random_below(w->random, 4);
    double left = fmax(0.0, error - (w->type == CP_FP64 ? 0x1p-51 : 0x1p-22));
    return which == 0 ? left : which == 1 ? -left : left * random_uniform(w->random);
}

/* 1 if the exponential of the kernel is that of base e. */
static int is_natural(const struct work *w) {
    return (w->row->base == CP_BASE_E) == (w->kernel->declared.converts == CP_CONVERTS_NONE);
}

static double exponential(const struct work *w, double z) {
    double exact = is_natural(w) ? exp(z) : exp2(z);
    return as(w, w->type, exact * (1.0 + stray(w, w->kernel->declared.exp_error)));
}

/* From the unit of a log-sum-exp to that of the exponential. */
static double constant(const struct work *w) {
    return as(w, w->type, w->row->base == CP_BASE_E ? LOG_2 : LN_2);
}

/* The computed exponential of x - m. */
static double factor(const struct work *w, double x, double m) {
    int type = w->type, converts = w->kernel->declared.converts;
    double c = constant(w);
    if (converts == CP_CONVERTS_NONE) {
        return exponential(w, as(w, type, x - m));
    }
    if (converts == CP_CONVERTS_DIFFERENCE) {
        return exponential(w, as(w, type, as(w, type, x - m) * c));
    }
    double of_m = as(w, type, m * c);
    double of_x = w->kernel->fuses ? x * c : as(w, type, x * c);
    return exponential(w, as(w, type, of_x - of_m));
}

static double larger(double x, double y) {
    return x > y ? x : y;
}

/* The log-sum-exp m + ln n, in the base of the row. */
static double log_sum(const struct work *w, double m, double n) {
    int type = w->type, converts = w->kernel->declared.converts;
    double exact = is_natural(w) ? log(n) : log2(n), error = w->kernel->declared.log_error;
    double logarithm = as(w, type, exact + stray(w, error * larger(1.0, fabs(exact))));
    double back = as(w, type, w->row->base == CP_BASE_E ? LN_2 : LOG_2);
    double l;
    if (converts == CP_CONVERTS_NONE) {
        l = as(w, type, m + logarithm);
    } else if (converts == CP_CONVERTS_DIFFERENCE) {
        l = as(w, type, m + as(w, type, logarithm * back));
    } else {
        l = as(w, type, as(w, type, as(w, type, m * constant(w)) + logarithm) * back);
    }
    return stored(w, w->kernel->declared.lse_type, l);
}

static double divided(const struct work *w, double x, double n) {
    return as(w, w->type, x / n * (1.0 + stray(w, w->kernel->declared.div_error)));
}

static double as_weight(const struct work *w, double p) {
    int type = w->kernel->declared.weights;
    return w->type == CP_FP64 || type == CP_FP32 || type == CP_FP64 ? p : as(w, type, p);
}

/* to += p o. */
static void add_product(const struct work *w, double *to, double p, const double *o) {
    int type = w->kernel->declared.values;
    for (int i = 0; i < w->row->head_dim; i++) {
        double of_o = as(w, type, o[i]), product = p * of_o;
        to[i] = as(w, type, to[i] + (w->kernel->fuses ? product : as(w, type, product)));
    }
}

static void divide(const struct work *w, double *o, double n) {
    for (int i = 0; i < w->row->head_dim; i++) {
        o[i] = divided(w, o[i], n);
    }
}

/* An o that waits for its merge. */
static void store_partial(const struct work *w, struct state *a) {
    int type = w->kernel->declared.partials;
    int stays = w->type == CP_FP64 || !a->is_merged;
    for (int i = 0; i < w->row->head_dim && !stays; i++) {
        a->o[i] = type == CP_FP32 || type == CP_FP64 ? a->o[i] : as(w, type, a->o[i]);
    }
}

/* A reference for parts whose largest log-sum-exp is l. */
static double reference(const struct work *w, double l) {
    double unit = w->row->base == CP_BASE_2 ? LN_2 : 1.0;
    double above = w->kernel->declared.above / unit * 0.999;
    double behind = w->kernel->declared.behind / unit * 0.999;
    if (above + behind == 0.0) {
        return l;
    }
    int which = random_below(w->random, 3);
    return which == 0 ? l : as(w, w->type, which == 1 ? l + above : l - behind);
}

static int is_empty(const struct state *a) {
    return a->n == 0.0;
}

/* ---- Ways ---- */

/* Of a part that is given by sums, n counts its weight n times; so does o, if it is divided. */
static void weigh_all(const struct work *w, const struct state *part, int n_parts, double m,
                      double *p, double *n) {
    const struct cp_merging_sums *given = w->kernel->given;
    *n = 0.0;
    for (int j = 0; j < n_parts; j++) {
        p[j] = is_empty(&part[j]) ? 0.0 : factor(w, part[j].m, m);
        double times = given != NULL ? as(w, w->type, p[j] * part[j].n) : p[j];
        *n = w->kernel->fuses && given != NULL ? as(w, w->type, *n + p[j] * part[j].n)
                                               : as(w, w->type, *n + times);
        p[j] = given != NULL && given->is_divided ? times : p[j];
    }
}

/* All parts for the reference m: weights are divided, or the sums, or neither. */
static struct state at_once(const struct work *w, const struct state *part, int n_parts, double m,
                            int divides) {
    double p[MERGING_MOST_PARTS];
    struct state all = {.m = m};
    int first = divides && w->kernel->divides_weights;
    weigh_all(w, part, n_parts, m, p, &all.n);
    for (int j = 0; j < n_parts; j++) {
        add_product(w, all.o, as_weight(w, first ? divided(w, p[j], all.n) : p[j]), part[j].o);
    }
    if (divides && !first) {
        divide(w, all.o, all.n);
    }
    return all;
}

static double largest_of(const struct state *part, int n_parts) {
    double largest = -INFINITY;
    for (int j = 0; j < n_parts; j++) {
        largest = is_empty(&part[j]) ? largest : larger(largest, part[j].m);
    }
    return largest;
}

static struct state merge_states(const struct work *w, const struct state *a,
                                 const struct state *b) {
    int type = w->type;
    struct state both = {.largest = larger(a->largest, b->largest)};
    both.m = reference(w, both.largest);
    double x = factor(w, a->m, both.m), y = factor(w, b->m, both.m);
    double of_a = as(w, type, x * a->n);
    both.n =
        w->kernel->fuses ? as(w, type, y * b->n + of_a) : as(w, type, as(w, type, y * b->n) + of_a);
    add_product(w, both.o, as_weight(w, x), a->o);
    add_product(w, both.o, as_weight(w, y), b->o);
    return both;
}

static struct state merge_results(const struct work *w, const struct state *a,
                                  const struct state *b) {
    const struct state pair[2] = {*a, *b};
    struct state both = at_once(w, pair, 2, reference(w, larger(a->m, b->m)), 1);
    both.m = log_sum(w, both.m, both.n);
    both.n = 1.0;
    return both;
}

static struct state merge(const struct work *w, struct state *a, struct state *b) {
    if (is_empty(a) || is_empty(b)) {
        return is_empty(a) ? *b : *a;
    }
    store_partial(w, a);
    store_partial(w, b);
    struct state both = w->kernel->declared.way == CP_MERGING_STATES ? merge_states(w, a, b)
                                                                     : merge_results(w, a, b);
    both.is_merged = 1;
    return both;
}

static struct state merge_all(const struct work *w, struct state *part, int n_parts) {
    while (n_parts > 1) {
        int pairs = w->kernel->balanced ? n_parts / 2 : 1, left = 0;
        for (int j = 0; j < n_parts; left++) {
            int is_pair = left < pairs;
            part[left] = is_pair ? merge(w, &part[j], &part[j + 1]) : part[j];
            j += is_pair ? 2 : 1;
        }
        n_parts = left;
    }
    return part[0];
}

/* A part as it is given by sums. States have o times n: undivided sums. */
static void take_sums(const struct work *w, struct state *part, int j) {
    const struct cp_merging_sums *given = w->kernel->given;
    int type = w->kernel->declared.values, way = w->kernel->declared.way;
    part->m = given->n[j] == 0.0 ? -INFINITY : given->m[j];
    part->n = given->n[j];
    part->largest = part->m;
    for (int i = 0; i < w->row->head_dim && part->n != 0.0; i++) {
        double o = given->o[(ptrdiff_t)j * w->row->head_dim + i];
        part->o[i] = way == CP_MERGING_STATES && given->is_divided
                         ? as(w, type, as(w, type, o) * part->n)
                         : o;
    }
}

static int load(const struct work *w, struct state *part) {
    const struct cp_merging_row *row = w->row;
    int order[MERGING_MOST_PARTS];
    for (int j = 0; j < row->n_parts; j++) {
        int at = w->kernel->shuffles ? random_below(w->random, j + 1) : j;
        order[j] = order[at];
        order[at] = j;
    }
    for (int j = 0; j < row->n_parts; j++) {
        const double *o = row->o + (ptrdiff_t)order[j] * row->head_dim;
        part[j].m = row->lse[order[j]];
        part[j].is_merged = 0;
        part[j].largest = part[j].m;
        part[j].n = part[j].m == -INFINITY ? 0.0 : 1.0;
        memcpy(part[j].o, o, (size_t)row->head_dim * sizeof *o);
        if (w->kernel->given != NULL) {
            take_sums(w, &part[j], order[j]);
        }
    }
    return row->n_parts;
}

static struct state finish(const struct work *w, struct state *part, int n_parts) {
    int way = w->kernel->declared.way;
    if (way == CP_MERGING_STATES || way == CP_MERGING_PAIRWISE) {
        struct state all = merge_all(w, part, n_parts);
        if (way == CP_MERGING_STATES) {
            divide(w, all.o, all.n);
            all.m = log_sum(w, all.m, all.n);
        }
        return all;
    }
    struct state all = at_once(w, part, n_parts, reference(w, largest_of(part, n_parts)),
                               way == CP_MERGING_AT_ONCE);
    all.m = log_sum(w, all.m, all.n);
    if (way == CP_MERGING_UNDIVIDED) {
        struct state again = at_once(w, part, n_parts, all.m, 0);
        memcpy(all.o, again.o, sizeof all.o);
    }
    return all;
}

void merging_emulate(const struct merging_kernel *kernel, const struct cp_merging_row *row,
                     unsigned long long *random, double *out, double *lse) {
    struct state part[MERGING_MOST_PARTS], all = {.m = -INFINITY};
    struct work w = {kernel, row, random, kernel->declared.values == CP_FP64 ? CP_FP64 : CP_FP32};
    assert(row->n_parts <= MERGING_MOST_PARTS && row->head_dim <= MERGING_MOST_DIM);
    int n_parts = load(&w, part);
    if (largest_of(part, n_parts) != -INFINITY) {
        all = finish(&w, part, n_parts);
    }
    for (int i = 0; i < row->head_dim; i++) {
        out[i] = stored(&w, kernel->declared.out_type, all.o[i]);
    }
    *lse = all.m;
}
