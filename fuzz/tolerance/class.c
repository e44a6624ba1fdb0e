/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel declares, number by number (NUM-6 to NUM-8). */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "fuzz/tolerance/emulate.h"
#include "fuzz/tolerance/shift.h"

#define U       0x1p-24           /* binary32 to nearest */
#define U_CONST (0x1p-24 * 1.001) /* a constant that is rounded from binary64 */
#define TINY    0x1p-149

static int bits_of(int type) {
    return type == CP_FP16 ? 11 : type == CP_BF16 ? 8 : 24;
}

static struct cp_format format_of(int type) {
    struct cp_format exact = {0.0, 0.0, FLT_MAX}; /* the number is a binary32 number already */
    return type == CP_FP16 ? cp_format_fp16() : type == CP_BF16 ? cp_format_bf16() : exact;
}

/* NUM-20: the roundings in 16 bits on the way of a product, in additions of binary32; 0 where sums
 * are not promoted. A product that is rounded by itself has one more. */
static int short_depth(const struct sum *s, int n) {
    struct sum of_few = *s;
    int count = s->promotes < n ? s->promotes : n;
    of_few.promotes = 0;
    return s->promotes == 0
               ? 0
               : cp_depth_of_short_sums(s->short_type, sums_depth(&of_few, count, 0), 0);
}

/* Behind them, or where there are none: additions in the type of the sum. */
static int depth_of(const struct sum *s, int n, int with_start) {
    return s->promotes == 0 ? sums_depth(s, n, with_start)
                            : (n + s->promotes - 1) / s->promotes - !with_start;
}

static double largest_key(const struct problem *p) {
    double largest = 0.0;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)p->n * p->d; i++) {
        largest = fmax(largest, fabs(p->k[i]));
    }
    return largest;
}

/* NUM-6. A scaled query has the rounding of the constant, of the product and, if it is kept in a
 * short format, of that; a product of the dot is rounded where it has too many bits. */
static struct cp_score_arithmetic score_class(const struct options *o, const struct problem *p) {
    struct cp_score_arithmetic s = {.scaled_before = 0};
    double growth = 1.0, query_tiny = 0.0;
    int bits = bits_of(o->input), query_bits = bits;
    if (o->scaling == SCALE_BEFORE || o->scaling == SCALE_BEFORE_16) {
        growth = (1.0 + U_CONST) * (1.0 + U);
        query_tiny = TINY;
        query_bits = 24;
        s.scaled_before = 1;
    }
    if (o->scaling == SCALE_BEFORE_16) {
        growth *= 1.0 + format_of(o->input).unit;
        query_tiny += format_of(o->input).tiny;
        query_bits = bits;
    }
    int is_short = o->dot.promotes > 0;
    if (sums_rounds_products(&o->dot, is_short ? o->dot.short_type : CP_FP32, query_bits + bits)) {
        growth *= 1.0 + (is_short ? format_of(o->dot.short_type).unit : U);
    }
    s.term_unit = growth - 1.0;
    s.term_tiny = TINY + (query_tiny > 0.0 ? query_tiny * largest_key(p) : 0.0);
    s.unit = sums_unit(&o->dot, CP_FP32, query_bits + bits);
    s.tiny = sums_tiny(&o->dot, CP_FP32);
    s.depth = short_depth(&o->dot, p->d) + depth_of(&o->dot, p->d, 0);
    s.n_additions = p->d;
    if (is_short) {
        s.term_tiny += format_of(o->dot.short_type).tiny;
        s.tiny = fmax(s.tiny, sums_tiny(&o->dot, o->dot.short_type));
        s.as_one = cp_additions_as_one(o->dot.short_type);
    }
    if (o->scaling == SCALE_AFTER) { /* the constant, and the product with it */
        s.scale_unit = (1.0 + U_CONST) * (1.0 + U) - 1.0;
        s.scale_tiny = TINY;
    } else if (o->scaling == SCALE_FUSED) {
        s.scale_unit = U_CONST;
    }
    return s;
}

/* NUM-7, the exponential. Its declared error and one rounding; smallest numbers, rounded or
 * flushed. In the argument: one difference; fused, that of unscaled numbers and the product (of
 * factors), and m * scale is rounded by itself: where weights are made, and in factors if these use
 * it. */
static void exponential_class(const struct options *o, struct cp_arithmetic *a) {
    int fused = o->scaling == SCALE_FUSED;
    a->u_arg = fused && !o->moves_apart ? 2.0 * U + U * U : U;
    a->u_ref = fused ? U : 0.0;
    a->u_move = o->moves_apart ? U : 0.0;
    a->eps = -log1p(-(o->exp_error + U * (1.0 + o->exp_error) + 0x1p-40));
    a->kappa = o->flush_exp ? 0x1p-126 : TINY;
}

double wait_in_nats(const struct options *o) {
    return (o->bits ? o->lazy * 0x1.62E42FEFA39EFp-1 : o->lazy) * (1.0 + 0x1p-20);
}

double error_of_scores(const struct cp_score_arithmetic *a, const struct problem *p) {
    double magnitude = 0.0, of_shift = 0.0;
    double *errors = calloc((size_t)p->n + 1, sizeof *errors);
    assert(errors != NULL);
    shift_errors(a, p, errors);
    for (int j = 0; j < p->n; j++) {
        double sum = 0.0;
        for (int x = 0; x < p->d; x++) {
            sum += fabs(p->q[x] * p->k[(ptrdiff_t)j * p->d + x]);
        }
        magnitude = fmax(magnitude, fabs(p->scale) * sum);
        of_shift = fmax(of_shift, errors[j]);
    }
    free(errors);
    return cp_score_error(a, p->scale, p->d, magnitude) + of_shift;
}

static int height_of(const struct options *o, int parts) {
    int height = parts - 1;
    if (o->merging == MERGE_AT_ONCE) {
        return parts > 1;
    }
    if (o->merging == MERGE_BALANCED || o->merging == MERGE_RANDOM) {
        int *plan = malloc(2 * (size_t)parts * sizeof *plan);
        height = plan == NULL ? parts - 1 : merge_plan(o, parts, plan, plan + parts);
        free(plan);
    }
    return height;
}

static int parts_of(const struct options *o, int n) {
    int t = (n + o->chunk_size - 1) / o->chunk_size;
    return o->merging == MERGE_RUNNING || o->merging == MERGE_SEPARATE
               ? 1
               : (t + o->split - 1) / o->split;
}

/* A state that is divided at once: each leaf, and each merge. Where merges are not, they have
 * log-sum-exps all the same. */
static int divisions_of(const struct options *o, int n) {
    return o->immediate ? height_of(o, parts_of(o, n)) + 1 : 0;
}

/* NUM-8. c keys are summed in a chunk; each of t - 1 merges is a product and an addition on the way
 * of a key; a state is stored unless it is the last one. */
static void count(const struct options *o, const struct problem *p, int rounds_products,
                  struct cp_counts *counts) {
    int c = o->chunk_size < p->n ? o->chunk_size : p->n;
    int t = (p->n + o->chunk_size - 1) / o->chunk_size;
    int running = o->merging == MERGE_RUNNING, apart = o->merging == MERGE_SEPARATE;
    /* changes on one state, and merges of such */
    int on_one = running || apart ? t - 1 : o->split < t ? o->split - 1 : t - 1;
    int parts = parts_of(o, p->n);
    int height = height_of(o, parts);
    int goes_on = on_one > 0 && !apart;
    int in_chunk_n = sums_depth(&o->row_sum, c, goes_on);
    int in_chunk_o = depth_of(&o->value_sum, c, goes_on);
    int rounding = o->value_sum.promotes == 0 || !rounds_products
                       ? rounds_products
                       : cp_additions_as_one(o->value_sum.short_type);
    /* on one state the sums go on, with a product at each change; else a product and an addition,
     * or of all at once as many additions as there are more parts */
    int merges_n = on_one * (apart ? 2 : in_chunk_n + 1);
    int merges_o = on_one * (apart ? 2 : in_chunk_o + 1);
    int merges = o->merging == MERGE_AT_ONCE ? (parts > 1 ? parts : 0) : 2 * height;
    int divisions = o->undivided ? 1 : divisions_of(o, p->n);
    int each = o->reciprocal ? 2 : 1; /* roundings, by way of 1 / n */
    counts->depth_n = in_chunk_n + merges_n + merges;
    counts->depth_o = rounding + short_depth(&o->value_sum, c) + in_chunk_o + merges_o + merges +
                      each * divisions;
    /* what a division errs beside its rounding is as if the state were stored once more */
    counts->stores = on_one + height + (o->divide_error + o->epsilon > 0.0 ? divisions : 0);
    counts->changes = on_one + height + divisions;
    counts->operations_n = p->n + 6.0 * t;
    counts->operations_o = 2.0 * p->n + 6.0 * t + (o->immediate ? 4.0 * t : 0.0);
}

/* NUM-22: a log-sum-exp that is rounded is as if scores were off by so much. */
static void slip(const struct options *o, int times, double largest_score,
                 struct cp_arithmetic *a) {
    const struct cp_format format = format_of(o->part_lse == CP_PART_LSE_FP16 ? CP_FP16 : CP_BF16);
    double size = largest_score + a->above + a->below, all = times * format.unit;
    double each = all < 0.5 ? fmax(format.unit * size / (1.0 - all), format.tiny) : 1e6;
    a->u_part += o->undivided ? expm1(fmin(1.01 * each, 600.0)) * 1.01 : 0.0;
    a->score.scale_tiny += times * each * (1.0 + 0x1p-40);
    a->eps += (a->u_ref + 2.0 * a->u_move) * times * each * (1.0 + 0x1p-40);
}

/* NUM-7, how far references lie from the largest computed score. A log-sum-exp is above by ln n,
 * and off by what its n and itself are rounded. A maximum that waits is below by as much as it may
 * wait (NUM-21). */
static void reference_class(const struct options *o, const struct problem *p, double largest_score,
                            const struct cp_counts *counts, struct cp_arithmetic *a) {
    if (o->lazy > 0.0) {
        cp_follow_maximum(a, wait_in_nats(o), error_of_scores(&a->score, p));
    }
    if (o->immediate) {
        double log_n = log(p->n + 1.0);
        double size = largest_score + 2.0 * log_n;
        double weights = o->rounded_sum ? 2.0 * a->weights.unit : 0.0;
        a->eps = fmax(a->eps, U_CONST * log_n);
        a->u_move = U_CONST;
        double off = 2.0 * a->eps + 2.0 * a->u_n * counts->depth_n + weights + 4.0 * U * size;
        if (o->undivided) { /* factors add up to 1 but for what the log-sum-exp is off: o is stored
                               anew */
            a->u_part += 1.01 * (a->eps + 2.0 * a->u_n * counts->depth_n + 2.0 * U * size);
        }
        a->below = off;
        a->above = log_n + (counts->changes + 1) * off;
    }
    if (o->part_lse != CP_PART_LSE_FP32) {
        slip(o, divisions_of(o, p->n), largest_score, a);
    }
}

/* The last division: n has what is added to it, and is the weight of the largest score at least,
 * but for its exponential and the changes since. Weights that are divided by n have so large a
 * tiny as n may be. */
static void division_class(const struct options *o, const struct problem *p, double largest_score,
                           const struct cp_counts *counts, struct cp_arithmetic *a) {
    double drift = (counts->changes + 1.0) * (a->eps + a->u_n + a->u_part +
                                              2.0 * (a->u_move + a->u_ref) * (largest_score + 1.0));
    double share = o->epsilon * exp(drift);
    double growth = (1.0 + (o->reciprocal ? 2.0 * U + U * U : U)) * (1.0 + o->divide_error) *
                    (1.0 + share) * (o->epsilon > 0.0 ? 1.0 + U : 1.0);
    if (o->immediate) { /* n = 1, and there is no division at the end */
        a->u_part += o->epsilon > 0.0 ? growth - 1.0 : o->divide_error;
        return;
    }
    a->u_div =
        o->divide_error > 0.0 || share > 0.0 ? (growth - 1.0) * (1.0 + 0x1p-40) : growth - 1.0;
    a->eta_div = TINY;
    if (o->normalise) {
        double most = p->n * exp(drift + counts->depth_n * a->u_n) * (1.0 + 0x1p-40);
        a->weights.unit = ((1.0 + a->weights.unit) * growth - 1.0) * (1.0 + 0x1p-40);
        a->weights.tiny = most * (a->weights.tiny + 2.0 * TINY);
        a->eta_o *= most;
        a->u_div = (1.0 + share) * (1.0 + U) - 1.0;
        a->eta_div = 0.0;
    }
}

void class_of(const struct options *options, const struct problem *p, double largest_score,
              struct cp_arithmetic *a, struct cp_counts *counts) {
    const struct options taken = options_of_row(options, p->n), *o = &taken;
    int product_bits = bits_of(o->weights) + bits_of(o->input);
    int is_short = o->value_sum.promotes > 0;
    int added_in = is_short ? o->value_sum.short_type : o->accumulator;
    int rounds = sums_rounds_products(&o->value_sum, added_in, product_bits);
    struct cp_format partials = format_of(o->partials);
    *a = (struct cp_arithmetic){.score = score_class(o, p)};
    exponential_class(o, a);
    if (o->factors != CP_FACTORS_FP32) {
        struct cp_format factors = format_of(o->factors == CP_FACTORS_FP16 ? CP_FP16 : CP_BF16);
        a->eps += -log1p(-factors.unit);
        a->kappa = fmax(a->kappa, factors.tiny);
    }
    a->weights = o->weights == CP_FP32 ? format_of(CP_FP32) : format_of(o->weights);
    if (o->flush) {
        a->weights = cp_format_flushing(a->weights);
    }
    a->rounded_sum = o->rounded_sum;
    /* one number for sums, products and merges: the largest */
    a->u_n = fmax(sums_unit(&o->row_sum, CP_FP32, bits_of(o->weights)), U);
    a->u_o = fmax(sums_unit(&o->value_sum, o->accumulator, product_bits),
                  fmax(format_of(o->accumulator).unit, U));
    a->eta_n = sums_tiny(&o->row_sum, CP_FP32);
    a->eta_o = fmax(sums_tiny(&o->value_sum, o->accumulator), sums_tiny(&o->value_sum, added_in));
    a->as_one_o = is_short ? cp_additions_as_one(added_in) : 0;
    a->u_part = partials.unit;
    a->eta_n = fmax(a->eta_n, partials.tiny);
    a->eta_o = fmax(a->eta_o, partials.tiny);
    a->output = format_of(o->output);
    count(o, p, rounds, counts);
    division_class(o, p, largest_score, counts, a);
    reference_class(o, p, largest_score, counts, a);
}

/* The error of a logarithm and an addition, and of the product of m and the scale where that is
 * still to be made. */
double lse_error(const struct options *o, const struct result *result) {
    return (o->immediate ? 0x1p-50 : 2.1 * U) * result->lse_of;
}
