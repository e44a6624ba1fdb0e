/* SPDX-License-Identifier: Apache-2.0 */
/* What the options declare, number by number (NUM-6 to NUM-8). */
#include <float.h>
#include <math.h>

#include "chunkproof/kernel_class.h"
#include "chunkproof/number.h"
#include "cli/bound/bound.h"

#define U          0x1p-24 /* binary32, to nearest */
#define U_16       0x1p-11 /* binary16 */
#define U_B16      0x1p-8  /* bfloat16 */
#define TINY       0x1p-149
#define TINY_16    0x1p-25
#define TINY_B16   0x1p-134
#define NORMAL     0x1p-126 /* the smallest normal numbers */
#define NORMAL_16  0x1p-14
#define CORE_BLOCK 16
#define CORE_BITS  25

const char *const bound_score_names[] = {"sequential", "pairwise", "tensor-core",
                                         "fp16",       "bf16",     NULL};
const char *const bound_accumulate_names[] = {"fp32", "fp16", "tensor-core", "bf16", NULL};
const char *const bound_scaled_names[] = {"no", "fp16", "bf16", NULL};
const char *const bound_factors_names[] = {"fp32", "fp16", "bf16", NULL};
const char *const bound_merges_names[] = {"chain", "balanced", "running", "any", NULL};

const char *bound_format_name(int format) {
    return format == CP_FP16 ? "fp16" : format == CP_BF16 ? "bf16" : "fp32";
}

struct cp_format bound_format(int type) {
    return type == CP_FP16   ? cp_format_fp16()
           : type == CP_BF16 ? cp_format_bf16()
                             : cp_format_fp32();
}

static int bits_of(int type) {
    return type == CP_FP16 ? 11 : type == CP_BF16 ? 8 : 24;
}

static int log2_up(int n) {
    int depth = 0;
    for (int reach = 1; reach < n; reach *= 2) {
        depth++;
    }
    return depth;
}

/* A number that is in binary32 already is not rounded once more. */
static struct cp_format format_of(const struct bound_options *o, int type) {
    struct cp_format format = {0.0, 0.0, FLT_MAX};
    if (type == CP_FP32) {
        return format;
    }
    format = bound_format(type);
    format = o->truncate ? cp_format_truncating(format) : format;
    return o->flush ? cp_format_flushing(format) : format;
}

/* Products of two short numbers are exact in a tensor core. A block's products, and what was added
 * up before, are cut off CORE_BITS bits below the largest; so is the sum. The largest itself loses
 * nothing, unless a product has more bits than are kept. */
static double core_unit(int product_bits) {
    int cut = CORE_BLOCK + (product_bits > CORE_BITS + 1);
    return cut * ldexp(1.0, -CORE_BITS) + 2.0 * U;
}

static int core_depth(int n) {
    return (n + CORE_BLOCK - 1) / CORE_BLOCK;
}

/* NUM-20: products in a short sum of n at most. */
static int in_short_sum(int promotes, int n) {
    return promotes < n ? promotes : n > 1 ? n : 1;
}

/* Sums of scores in 16 bits; a product is rounded, too. Sums of d numbers at most are promoted, and
 * an addition of these may be flushed. */
static void score_in_16_bits(const struct bound_options *o, int d, int type, double unit,
                             struct cp_score_arithmetic *s) {
    if (o->score_promotes == 0) {
        s->unit = unit;
        return;
    }
    s->depth = cp_depth_of_short_sums(type, in_short_sum(o->score_promotes, d) - 1, d);
    s->n_additions = o->flush ? 2 * d : d;
    s->as_one = cp_additions_as_one(type);
}

static void score_class(const struct bound_options *o, int d, struct cp_score_arithmetic *s) {
    switch (o->score) {
    case SCORE_PAIRWISE:
        s->depth = log2_up(d);
        break;
    case SCORE_TENSOR_CORE:
        s->term_unit = o->input == CP_FP32 ? U : 0.0;
        s->unit = core_unit(0); /* of products that are rounded, if they have too many bits */
        s->tiny = 2.0 * TINY;
        s->depth = core_depth(d);
        break;
    case SCORE_FP16:
        s->term_unit = U_16;
        s->term_tiny = TINY_16;
        score_in_16_bits(o, d, CP_FP16, U_16, s);
        break;
    case SCORE_BF16:
        s->term_unit = U_B16;
        s->term_tiny = TINY_B16;
        score_in_16_bits(o, d, CP_BF16, U_B16, s);
        break;
    default:
        break;
    }
}

/* A tensor core does so anyhow. */
static void cut_off(const struct bound_options *o, struct cp_arithmetic *a) {
    double unit = a->score.unit, tiny = a->score.tiny;
    double *const numbers[] = {&a->score.term_unit,
                               &a->score.term_tiny,
                               &a->score.unit,
                               &a->score.tiny,
                               &a->score.scale_unit,
                               &a->score.scale_tiny,
                               &a->u_arg,
                               &a->u_n,
                               &a->eta_n,
                               &a->u_o,
                               &a->eta_o,
                               &a->u_part,
                               &a->u_div,
                               &a->eta_div};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *numbers[i] *= 2.0;
    }
    if (o->score == SCORE_TENSOR_CORE) {
        a->score.unit = unit;
        a->score.tiny = tiny;
    }
}

/* The sums of P V, whatever else is cut off. One number for them and for the products and additions
 * of merges, which are done in binary32: the larger. */
static void sum_values_by_core(const struct bound_options *o, struct cp_arithmetic *a) {
    a->u_o = core_unit(bits_of(o->weights) + bits_of(o->input));
    a->eta_o = fmax(a->eta_o, 2.0 * TINY);
}

static double at_least(double x, double least) {
    return x > 0.0 ? fmax(x, least) : x;
}

static void flush(const struct bound_options *o, struct cp_arithmetic *a) {
    double partial = o->partials == CP_FP16 ? NORMAL_16 : NORMAL;
    double sum = o->accumulate == ACCUMULATE_FP16 ? NORMAL_16 : partial;
    double score = o->score == SCORE_FP16 ? NORMAL_16 : NORMAL;
    a->score.term_tiny = fmax(a->score.term_tiny, score);
    a->score.tiny = fmax(a->score.tiny, score);
    a->score.scale_tiny = fmax(a->score.scale_tiny, NORMAL);
    a->kappa = NORMAL;
    a->eta_n = fmax(a->eta_n, partial);
    a->eta_o = fmax(a->eta_o, sum);
    a->eta_div = at_least(a->eta_div, NORMAL);
}

static int has_short_sums(const struct bound_options *o) {
    return o->accumulate_promotes > 0 &&
           (o->accumulate == ACCUMULATE_FP16 || o->accumulate == ACCUMULATE_BF16);
}

void bound_count_short_sums(const struct bound_options *o, int n, struct cp_counts *counts) {
    if (has_short_sums(o)) {
        int type = o->accumulate == ACCUMULATE_FP16 ? CP_FP16 : CP_BF16;
        counts->depth_o =
            cp_depth_of_short_sums(type, in_short_sum(o->accumulate_promotes, n), counts->depth_o);
        counts->operations_o += o->flush ? n : 0.0;
    }
}

/* States of keys alone. */
static int chunks(const struct bound_options *o, int n) {
    return n > 0 ? (n + o->chunk - 1) / o->chunk : 1;
}

/* A sink is a state of its own, which is merged with all others (SCORE-3). */
static int height_of(const struct bound_options *o, int n) {
    int height = o->merges == MERGES_BALANCED ? log2_up(chunks(o, n)) : chunks(o, n) - 1;
    return height + o->has_sink;
}

/* GATE-2: a chunk is a step; a sink is one, too, and a part. */
static int steps_of(const struct bound_options *o, int n) {
    return (n > 0 ? chunks(o, n) : 0) + o->has_sink;
}

static int parts_of(const struct bound_options *o, int n) {
    const struct cp_kernel_class class = bound_declared(o);
    return cp_class_parts(&class, steps_of(o, n), n, 2 + o->has_sink);
}

/* On the way of a key: of its chunk, and of each merge. */
static int divisions_of(const struct bound_options *o, int n) {
    if (o->merges == MERGES_ANY) {
        const struct cp_kernel_class class = bound_declared(o);
        return cp_class_divisions(&class, parts_of(o, n));
    }
    return o->immediate ? height_of(o, n) + 1 : 0;
}

/* NUM-8. Where a state runs, its sums go on after each change: a product, and the additions of the
 * next chunk. A state that is divided at once is so as a leaf, too, and takes a product each time.
 * For o a product with V comes first; a tensor core does not round it, and adds a block at a
 * time. */
static void count(const struct bound_options *o, int n_keys, struct cp_counts *counts) {
    int n = n_keys + o->has_sink, c = o->chunk < n_keys ? o->chunk : n_keys;
    int t = chunks(o, n_keys) + o->has_sink, height = height_of(o, n_keys);
    int divisions = divisions_of(o, n_keys);
    if (o->merges == MERGES_ANY) {
        const struct cp_kernel_class class = bound_declared(o);
        *counts = cp_class_counts(&class, n, steps_of(o, n_keys), parts_of(o, n_keys));
        bound_count_short_sums(o, n, counts);
        return;
    }
    int core = o->accumulate == ACCUMULATE_TENSOR_CORE, running = o->merges == MERGES_RUNNING;
    int in_chunk_o = core ? core_depth(c) : c;
    counts->depth_n = c + height * (running ? c + 1 : 2);
    counts->depth_o = !core + in_chunk_o + height * (running ? in_chunk_o + 1 : 2) + divisions;
    counts->stores = o->merges == MERGES_RUNNING ? 0 : height;
    if (o->immediate && o->divide_error + o->epsilon > 0.0) {
        counts->stores = divisions; /* each errs as a store does (GATE-15) */
    }
    counts->changes = height + divisions;
    counts->operations_n = n + 5.0 * (t - 1) + (o->immediate ? 2.0 * t : 0.0);
    counts->operations_o = 2.0 * n + 5.0 * (t - 1) + (o->immediate ? 4.0 * t : 0.0);
    bound_count_short_sums(o, n, counts);
}

void bound_arithmetic(const struct bound_options *o, int d, struct cp_arithmetic *a) {
    *a = cp_arithmetic_fp32(d, format_of(o, o->weights), format_of(o, o->output));
    score_class(o, d, &a->score);
    a->eps = -log1p(-o->exp_error);
    a->rounded_sum = o->rounded_sum;
    if (o->accumulate == ACCUMULATE_FP16) {
        a->u_o = has_short_sums(o) ? U : U_16;
        a->eta_o = TINY_16;
        a->as_one_o = has_short_sums(o) ? cp_additions_as_one(CP_FP16) : 0;
    }
    if (o->accumulate == ACCUMULATE_BF16) {
        a->u_o = has_short_sums(o) ? U : U_B16;
        a->eta_o = TINY_B16;
        a->as_one_o = has_short_sums(o) ? cp_additions_as_one(CP_BF16) : 0;
    }
    if (o->partials != CP_FP32) {
        int half = o->partials == CP_FP16;
        a->u_part = half ? U_16 : U_B16;
        a->eta_n = half ? TINY_16 : TINY_B16;
        a->eta_o = fmax(a->eta_o, half ? TINY_16 : TINY_B16);
    }
    if (o->truncate) {
        cut_off(o, a);
    }
    if (o->accumulate == ACCUMULATE_TENSOR_CORE) {
        sum_values_by_core(o, a);
    }
    if (o->flush) {
        flush(o, a);
    }
}

static void scale_query(const struct bound_options *o, const struct bound_row *row,
                        double largest_key, struct cp_score_arithmetic *s) {
    const struct cp_kernel_class class = bound_declared(o);
    int type = o->scales == CP_SCALES_QUERY_FP16 ? CP_FP16 : CP_BF16;
    cp_class_scale_query(cp_class_format(&class, CP_FP32, 0), cp_class_format(&class, type, 0),
                         largest_key / fabs(row->scale), s);
}

static int has_cache(const struct bound_options *o) {
    return o->cache.k != CP_CACHE_PLAIN || o->cache.v != CP_CACHE_PLAIN;
}

static void dequantise(const struct bound_options *o, const struct bound_row *row,
                       double largest_query, struct cp_arithmetic *a) {
    const struct cp_kernel_class class = bound_declared(o);
    const struct cp_class_scales scales = {.query =
                                               o->cache.k != CP_CACHE_PLAIN ? largest_query : 0.0,
                                           .over_v = fmax(1.0, 1.0 / row->v_scale),
                                           .k = fmax(1.0, row->k_scale),
                                           .v = fmax(1.0, row->v_scale)};
    cp_class_dequantise(&class, &o->cache, &scales, a);
}

void bound_class_of_score(const struct bound_options *o, const struct bound_row *row,
                          const struct bound_largest *largest, struct cp_arithmetic *a) {
    struct bound_options of_sums = *o;
    if (has_cache(o)) {
        of_sums.input = CP_FP32; /* numbers times scales have more bits */
    }
    bound_arithmetic(&of_sums, row->d, a);
    if (has_cache(o)) {
        dequantise(o, row, largest->query, a);
    }
    if (o->scales != CP_SCALES_SCORES && row->scale != 0.0) { /* else all scores are 0 */
        scale_query(o, row, largest->key, &a->score);
    }
}

double bound_class(const struct bound_options *o, const struct bound_row *row,
                   const struct bound_largest *largest, struct cp_arithmetic *a,
                   struct cp_counts *counts) {
    const struct cp_kernel_class class = bound_declared(o);
    bound_class_of_score(o, row, largest, a);
    cp_class_round_factors(&class, a);
    count(o, row->n, counts);
    cp_class_round_values(&class, &o->cache, a, counts);
    cp_class_divide(&class, row->n + o->has_sink, largest->score, counts, a);
    double sigma = cp_score_error(&a->score, row->scale, row->d, largest->products);
    if (o->above + o->behind > 0.0) {
        cp_follow_maximum(a, o->above + o->behind,
                          (sigma + largest->shift_error) * (1.0 + 0x1p-40));
    }
    if (o->immediate) {
        cp_class_divide_at_once(row->n + o->has_sink, largest->score,
                                o->merges == MERGES_ANY ? steps_of(o, row->n) : 1, counts, a);
    }
    if (o->part_lse != CP_FP32) {
        (void)cp_class_slip(format_of(o, o->part_lse), divisions_of(o, row->n), largest->score, a);
    }
    return sigma + largest->shift_error;
}
