/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel declares, number by number (NUM-7, NUM-8). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "chunkproof/kernel_class.h"
#include "chunkproof/number.h"
#include "cli/bound/bound.h"
#include "gate/case/cache.h"
#include "gate/judge/class.h"

#define LSE_ROUNDINGS                                                                              \
    8.0 /* a logarithm, a product with ln 2, a sum and the format, each with 1 or 2 units */

static enum bound_score score_of(int sum) {
    return sum == CP_SUM_TENSOR_CORE ? SCORE_TENSOR_CORE
           : sum == CP_SUM_FP16      ? SCORE_FP16
           : sum == CP_SUM_BF16      ? SCORE_BF16
                                     : SCORE_SEQUENTIAL;
}

static enum bound_accumulate accumulate_of(int sum) {
    return sum == CP_SUM_TENSOR_CORE ? ACCUMULATE_TENSOR_CORE
           : sum == CP_SUM_FP16      ? ACCUMULATE_FP16
           : sum == CP_SUM_BF16      ? ACCUMULATE_BF16
                                     : ACCUMULATE_FP32;
}

static struct cp_format format_of(int type) {
    return type == CP_FP64   ? cp_format_fp64()
           : type == CP_FP32 ? cp_format_fp32()
           : type == CP_FP16 ? cp_format_fp16()
                             : cp_format_bf16();
}

/* The shorter of the types, if one is short: products of two such numbers are exact in binary32. */
static int input_of(const struct cp_kernel *kernel) {
    return gate_is_plain(&kernel->cache) && kernel->q_type == kernel->kv_type ? kernel->kv_type
                                                                              : CP_FP32;
}

static struct bound_options options_of(const struct cp_kernel *kernel) {
    const struct cp_kernel_class *class = &kernel->arithmetic;
    struct bound_options o;
    memset(&o, 0, sizeof o);
    o.input = input_of(kernel);
    o.weights = class->weights;
    o.partials = class->partials;
    o.output = kernel->out_type == CP_FP64 ? CP_FP32 : kernel->out_type;
    o.score = score_of(class->score);
    o.score_promotes = class->score_promotes;
    o.accumulate = accumulate_of(class->values);
    o.accumulate_promotes = class->values_promotes;
    o.truncate = class->truncates;
    o.flush = class->flushes;
    o.rounded_sum = class->rounded_sum;
    o.exp_error = class->exp_error;
    return o;
}

static void arithmetic_of(const struct cp_kernel *kernel, int d, struct cp_arithmetic *a) {
    const struct cp_kernel_class *class = &kernel->arithmetic;
    if (class->score == CP_SUM_FP64) {
        *a = cp_arithmetic_fp64(d);
        a->eps = fmax(a->eps, -log1p(-class->exp_error));
        a->output = format_of(kernel->out_type);
        return;
    }
    struct bound_options o = options_of(kernel);
    bound_arithmetic(&o, d, a);
    if (class->in_bits) { /* s log2(e) and m log2(e) may be rounded apart */
        double unit = class->truncates ? 0x1p-23 : 0x1p-24;
        a->score.scale_unit += 2.0 * unit;
        a->u_ref = 2.0 * unit;
        a->u_move = 2.0 * unit;
    }
}

int gate_steps(const struct cp_kernel *kernel, int chunk_size, int n) {
    int step = kernel->arithmetic.step;
    int of_step = step == 0 || step > chunk_size ? chunk_size : step;
    int full = (chunk_size + of_step - 1) / of_step, rest = n % chunk_size;
    return n / chunk_size * full + (rest + of_step - 1) / of_step;
}

int gate_parts(const struct cp_kernel *kernel, int steps, int keys, int n_short) {
    return cp_class_parts(&kernel->arithmetic, steps, keys, n_short);
}

static int parts_of(const struct gate_row *row) {
    return row->parts > 0 ? row->parts : row->steps;
}

static void count(const struct cp_kernel *kernel, const struct gate_row *row,
                  struct cp_counts *counts) {
    struct bound_options o = options_of(kernel);
    *counts = cp_class_counts(&kernel->arithmetic, row->n, row->steps, parts_of(row));
    bound_count_short_sums(&o, row->n, counts);
}

/* GATE-14: a product with the table, an addition, and the rounding to `rotated`. In binary64 the
 * products of keys and table are rounded here, too. Quarter turns are exact, and so is a number of
 * Q or K that has that type already, but not one of 8 bits times its scale. */
static void rotate(const struct cp_kernel *kernel, const struct gate_rotated *rotated,
                   struct cp_score_arithmetic *s) {
    const struct cp_kernel_class *class = &kernel->arithmetic;
    int wide = class->score == CP_SUM_FP64, is_short = class->rotated != CP_FP32 && !wide;
    int has_type = kernel->q_type == class->rotated && kernel->kv_type == class->rotated &&
                   kernel->cache.k == CP_CACHE_PLAIN;
    struct cp_format sum = cp_class_format(class, wide ? CP_FP64 : CP_FP32, rotated->quarters);
    struct cp_format to =
        cp_class_format(class, class->rotated, !is_short || (rotated->quarters && has_type));
    double more = cp_class_compound(to.unit, cp_class_compound(sum.unit, sum.unit));
    /* A product of two numbers of binary32 is not exact in a tensor core. */
    if (wide || (class->score == CP_SUM_TENSOR_CORE && !is_short)) {
        more = cp_class_compound(more, sum.unit);
    }
    s->term_tiny += (1.0 + s->term_unit) * rotated->number * (4.0 * sum.tiny + to.tiny);
    s->term_unit = cp_class_compound(more, s->term_unit);
}

/* CONV-4: a product with the scale, and a rounding. */
static void scale_query(const struct cp_kernel *kernel, const struct gate_rotated *rotated,
                        struct cp_score_arithmetic *s) {
    const struct cp_kernel_class *class = &kernel->arithmetic;
    int type = class->scales == CP_SCALES_QUERY_FP16 ? CP_FP16 : CP_BF16;
    struct cp_format product = cp_class_format(class, CP_FP32, 0);
    cp_class_scale_query(product, cp_class_format(class, type, 0), rotated->key, s);
}

static void dequantise(const struct cp_kernel *kernel, const struct gate_rotated *rotated,
                       struct cp_arithmetic *a) {
    const struct cp_class_scales scales = {.query = rotated->query,
                                           .over_v = rotated->over_scale,
                                           .k = rotated->k_scale,
                                           .v = rotated->v_scale,
                                           .rotates = kernel->keys != CP_KEYS_PLACED};
    cp_class_dequantise(&kernel->arithmetic, &kernel->cache, &scales, a);
}

static void class_of_score(const struct cp_kernel *kernel, int d,
                           const struct gate_rotated *rotated, struct cp_arithmetic *arithmetic) {
    arithmetic_of(kernel, d, arithmetic);
    if (!gate_is_plain(&kernel->cache)) {
        dequantise(kernel, rotated, arithmetic);
    }
    if (kernel->keys != CP_KEYS_PLACED) {
        rotate(kernel, rotated, &arithmetic->score);
    }
    if (kernel->arithmetic.scales != CP_SCALES_SCORES) {
        scale_query(kernel, rotated, &arithmetic->score);
    }
}

/* How far a reference may be from the maximum, above and below together. */
static double width_of(const struct cp_kernel_class *class) {
    return class->above + class->behind;
}

/* NUM-21: where references are near the maximum, the class is that of the maximum's scale. */
static void follow_maximum(const struct cp_kernel *kernel, const struct gate_row *row,
                           struct cp_arithmetic *a) {
    double width = width_of(&kernel->arithmetic), magnitude = fabs(row->scale) * row->products;
    if (width > 0.0) {
        double of_scores =
            cp_score_error(&a->score, row->scale, row->d, magnitude) + row->shift_error;
        cp_follow_maximum(a, width, of_scores * (1.0 + 0x1p-40));
    }
}

/* Where partial results are divided, references are log-sum-exps. */
static void divide_parts(const struct cp_kernel *kernel, const struct gate_row *row,
                         const struct cp_counts *counts, struct cp_arithmetic *a) {
    const struct cp_kernel_class *class = &kernel->arithmetic;
    double off = cp_class_divide_at_once(row->n, row->largest_score, row->steps, counts, a);
    if (class->part_lse != CP_PART_LSE_FP32) {
        int type = class->part_lse == CP_PART_LSE_FP16 ? CP_FP16 : CP_BF16;
        double each =
            cp_class_slip(cp_class_format(class, type, 0), cp_class_divisions(class, parts_of(row)),
                          row->largest_score, a);
        off = expm1(fmin(1.01 * (off + each), 600.0)); /* of factors that add up to exp(off) */
    }
    a->u_part += class->divides == 2 ? 1.01 * off : 0.0;
}

struct cp_score_arithmetic gate_class_of_score(const struct cp_kernel *kernel, int d,
                                               const struct gate_rotated *rotated) {
    struct cp_arithmetic arithmetic;
    class_of_score(kernel, d, rotated, &arithmetic);
    return arithmetic.score;
}

struct cp_shift_arithmetic gate_class_of_shift(const struct cp_kernel *kernel) {
    return cp_class_of_shift(&kernel->arithmetic);
}

void gate_class_of_row(const struct cp_kernel *kernel, const struct gate_row *row,
                       struct cp_arithmetic *arithmetic, struct cp_counts *counts) {
    class_of_score(kernel, row->d, row->rotated, arithmetic);
    cp_class_round_factors(&kernel->arithmetic, arithmetic);
    count(kernel, row, counts);
    cp_class_round_values(&kernel->arithmetic, &kernel->cache, arithmetic, counts);
    cp_class_divide(&kernel->arithmetic, row->n, row->largest_score, counts, arithmetic);
    follow_maximum(kernel, row, arithmetic);
    if (kernel->arithmetic.divides != 0) {
        divide_parts(kernel, row, counts, arithmetic);
    }
}

void gate_class(const struct cp_kernel *kernel, const struct gate_recipe *recipe, int n,
                double largest_score, struct cp_arithmetic *arithmetic, struct cp_counts *counts) {
    static const struct gate_rotated placed;
    int steps = gate_steps(kernel, recipe->chunk_size, n);
    const struct gate_row row = {.d = recipe->head_dim,
                                 .n = n,
                                 .steps = steps,
                                 .parts = gate_parts(kernel, steps, n, 2),
                                 .largest_score = largest_score,
                                 .rotated = &placed};
    gate_class_of_row(kernel, &row, arithmetic, counts);
}

/* ---- GATE-12 ---- */

#define TOGETHER   4   /* keys, */
#define COLUMNS    128 /* and columns of V that are added up side by side */
#define LARGEST_16 65504.0
#define MOST_WAY   60.0 /* as a logarithm: beyond it a weight may be subnormal, or a sum infinite */

/* Keys from `first` on, side by side: an addition to one sum does not wait for one to another.
 * Behind the last key it takes the last one again. */
static void extend_by_keys(const struct cp_tolerance_row *row, int first, struct gate_extent *x) {
    double sum[TOGETHER] = {0.0}, products[TOGETHER] = {0.0};
    const double *k[TOGETHER];
    for (int t = 0; t < TOGETHER; t++) {
        int j = first + t < row->n_keys ? first + t : row->n_keys - 1;
        k[t] = row->k + (ptrdiff_t)j * row->head_dim;
    }
    for (int i = 0; i < row->head_dim; i++) {
        for (int t = 0; t < TOGETHER; t++) {
            double product = row->q[i] * k[t][i];
            sum[t] += product;
            products[t] += fabs(product);
        }
    }
    for (int t = 0; t < TOGETHER; t++) {
        x->score = fmax(x->score, fabs(row->scale * sum[t]));
        if (row->shift != NULL) {
            int j = first + t < row->n_keys ? first + t : row->n_keys - 1;
            x->score = fmax(x->score, fabs(row->scale * sum[t] + row->shift[j]));
        }
        x->products = fmax(x->products, products[t]);
    }
}

/* Columns first .. first + count - 1 of V, at most COLUMNS: side by side, because they lie so in
 * memory. */
static void extend_by_columns(const struct cp_tolerance_row *row, int first, int count,
                              struct gate_extent *x) {
    double column[COLUMNS] = {0.0}, value[COLUMNS] = {0.0};
    for (int j = 0; j < row->n_keys; j++) {
        const double *v = row->v + (ptrdiff_t)j * row->value_dim + first;
        for (int i = 0; i < count; i++) {
            double size = fabs(v[i]);
            column[i] += size;
            value[i] = size > value[i] ? size : value[i];
        }
    }
    for (int i = 0; i < count; i++) {
        x->value = fmax(x->value, value[i]);
        x->column = fmax(x->column, column[i]);
    }
}

struct gate_extent gate_extent_of(const struct cp_tolerance_row *row) {
    struct gate_extent x = {0.0, 0.0, 0.0, 0.0};
    for (int j = 0; j < row->n_keys; j += TOGETHER) {
        extend_by_keys(row, j, &x);
    }
    for (int i = 0; i < row->value_dim; i += COLUMNS) {
        extend_by_columns(row, i, row->value_dim - i < COLUMNS ? row->value_dim - i : COLUMNS, &x);
    }
    return x;
}

static double largest_of(int is_half, const struct cp_kernel *kernel) {
    return is_half                                   ? LARGEST_16
           : kernel->arithmetic.score == CP_SUM_FP64 ? DBL_MAX
                                                     : (double)FLT_MAX;
}

/* By how much the errors of scores, exponentials and references may move a weight, as a logarithm,
 * on its way through all changes. */
static double way_of(const struct cp_kernel *kernel, const struct cp_arithmetic *a,
                     const struct cp_counts *counts, const struct cp_tolerance_row *row,
                     const struct gate_extent *extent) {
    double magnitude = fabs(row->scale) * extent->products;
    double slack = cp_score_error(&a->score, row->scale, row->head_dim, magnitude) + a->below;
    double lag = width_of(&kernel->arithmetic), h = extent->score + slack + a->above + lag;
    double step = slack + 2.0 * (a->u_arg + a->u_ref + a->u_move) * h + a->eps +
                  2.0 * gate_lse_error(kernel, row->n_keys, h);
    return (counts->changes + 1.0) * step + a->above + lag;
}

enum gate_overflow
gate_overflow_of(const struct cp_kernel *kernel, const struct cp_arithmetic *arithmetic,
                 const struct cp_counts *counts, const struct cp_tolerance_row *row,
                 const struct gate_extent *extent, const struct gate_rotated *rotated) {
    const struct cp_kernel_class *class = &kernel->arithmetic;
    double keys = largest_of(class->rotated == CP_FP16, kernel);
    double query = largest_of(class->scales == CP_SCALES_QUERY_FP16, kernel);
    int parts_in_half = class->partials == CP_FP16 && !class->divides;
    int in_half = class->values == CP_SUM_FP16 || parts_in_half;
    double scores = largest_of(class->score == CP_SUM_FP16, kernel);
    double sums = largest_of(in_half, kernel),
           parts = largest_of(class->partials == CP_FP16, kernel);
    double way = way_of(kernel, arithmetic, counts, row, extent),
           grown = exp(fmin(way, 2.0 * MOST_WAY));
    double sum = fmax(extent->column, row->n_keys), part = 2.0 * extent->value;
    double score = extent->products * fmax(1.0, 2.0 * fabs(row->scale));
    /* NUM-20: what is promoted is in binary32, and far below its end. */
    if (class->values == CP_SUM_FP16 && class->values_promotes > 0 && !parts_in_half) {
        sum = fmin(sum, class->values_promotes * extent->value);
    }
    sum *= grown;
    if (class->score != CP_SUM_FP16 || class->score_promotes == 0) {
        score = fmax(score, 2.0 * extent->score);
    }
    int is_half = in_half || class->partials == CP_FP16 || class->score == CP_SUM_FP16;
    if ((is_half && (sum > sums || part > parts || score > scores)) || rotated->sum > keys ||
        rotated->scaled > query) {
        return GATE_MAY_OVERFLOW;
    }
    return way <= MOST_WAY && 2.0 * sum <= sums && 2.0 * part <= parts && 2.0 * score <= scores &&
                   1.01 * rotated->sum <= keys && 1.01 * rotated->scaled <= query &&
                   4.0 * extent->value <= arithmetic->output.largest
               ? GATE_STAYS_FINITE
               : GATE_UNKNOWN;
}

double gate_lse_error(const struct cp_kernel *kernel, int n, double largest_score) {
    int exact = kernel->arithmetic.score == CP_SUM_FP64 && kernel->lse_type == CP_FP64;
    double unit = exact ? 0x1p-53 : 0x1p-24;
    unit *= kernel->arithmetic.truncates ? 2.0 : 1.0;
    double near = 2.0 * width_of(&kernel->arithmetic); /* m, and ln n, are so much larger */
    return LSE_ROUNDINGS * unit * (largest_score + log(n + 1.0) + 1.0 + near);
}
