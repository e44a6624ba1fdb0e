/* SPDX-License-Identifier: Apache-2.0 */
/* What a declaration makes of a class (GATE-15), for `chunkproof bound` and for the gate. */
#include <math.h>

#include "chunkproof/number.h"
#include "cli/bound/bound.h"

static int sum_of(enum bound_score score) {
    return score == SCORE_TENSOR_CORE ? CP_SUM_TENSOR_CORE
           : score == SCORE_FP16      ? CP_SUM_FP16
           : score == SCORE_BF16      ? CP_SUM_BF16
                                      : CP_SUM_FP32;
}

struct cp_kernel_class bound_declared(const struct bound_options *o) {
    return (struct cp_kernel_class){.score = sum_of(o->score),
                                    .score_promotes = o->score_promotes,
                                    .truncates = o->truncate,
                                    .flushes = o->flush,
                                    .tanh_error = o->tanh_error,
                                    .tanh_absolute = o->tanh_absolute,
                                    .partials = o->partials,
                                    .rounded_sum = o->rounded_sum,
                                    .divides = o->immediate,
                                    .n_parts = o->n_parts,
                                    .part_keys = o->part_keys,
                                    .factors = o->factors,
                                    .normalises = o->normalises,
                                    .epsilon = o->epsilon,
                                    .divide_error = o->divide_error,
                                    .k_dequantised = o->k_dequantised,
                                    .v_dequantised = o->v_dequantised,
                                    .above = o->above};
}

double bound_compound(double a, double b) {
    return (a + b + a * b) * (1.0 + 0x1p-50);
}

struct cp_format bound_format(int type) {
    return type == CP_FP16   ? cp_format_fp16()
           : type == CP_BF16 ? cp_format_bf16()
                             : cp_format_fp32();
}

struct cp_format bound_rounding(const struct cp_kernel_class *class, int type, int exact) {
    struct cp_format format = type == CP_FP64 ? cp_format_fp64() : bound_format(type);
    format = class->truncates ? cp_format_truncating(format) : format;
    format = class->flushes ? cp_format_flushing(format) : format;
    format.unit = exact ? 0.0 : format.unit;
    format.tiny = exact && !class->flushes ? 0.0 : format.tiny;
    return format;
}

struct cp_shift_arithmetic bound_class_of_shift(const struct cp_kernel_class *class) {
    int type = class->score == CP_SUM_FP64   ? CP_FP64
               : class->score_promotes > 0   ? CP_FP32
               : class->score == CP_SUM_FP16 ? CP_FP16
               : class->score == CP_SUM_BF16 ? CP_BF16
                                             : CP_FP32;
    struct cp_format format = bound_rounding(class, type, 0);
    return (struct cp_shift_arithmetic){format.unit, format.tiny, class->tanh_error,
                                        class->tanh_absolute};
}

/* ---- Counts (GATE-2) ---- */

int bound_parts(const struct cp_kernel_class *class, int steps, int keys, int n_short) {
    int parts = steps;
    if (class->n_parts > 0 && class->n_parts < parts) {
        parts = class->n_parts;
    }
    if (class->part_keys > 0 && keys / class->part_keys + n_short < parts) {
        parts = keys / class->part_keys + n_short;
    }
    return parts;
}

int bound_divisions(const struct cp_kernel_class *class, int parts) {
    return class->divides != 0 ? parts + 1 : 0;
}

/* A key's weight changes when the maximum of its own part changes, which is at most once for each
 * step of the part; and when parts are merged. Each change is a product and an addition. In the
 * worst case additions come one after the other. A state that is stored in binary32 is not rounded:
 * what a division errs counts as a store. */
void bound_count_any(const struct cp_kernel_class *class, int n, int steps, int parts,
                     struct cp_counts *counts) {
    int divides = class->divides != 0, divisions = bound_divisions(class, parts);
    int changes = steps + parts;
    counts->depth_n = n + 2 * changes;
    counts->depth_o = n + 1 + 2 * changes + divisions;
    counts->stores = class->partials == CP_FP32 ? divisions : changes;
    counts->changes = changes + divisions;
    counts->operations_n = n + (5.0 + 2.0 * divides) * changes;
    counts->operations_o = 2.0 * n + (5.0 + 4.0 * divides) * changes;
}

/* ---- Factors and divisions (GATE-15) ---- */

static double unit_of(const struct cp_kernel_class *class) {
    return (class->score == CP_SUM_FP64 ? 0x1p-53 : 0x1p-24) * (class->truncates ? 2.0 : 1.0);
}

void bound_round_factors(const struct cp_kernel_class *class, struct cp_arithmetic *a) {
    if (class->factors != CP_FACTORS_FP32) {
        int type = class->factors == CP_FACTORS_FP16 ? CP_FP16 : CP_BF16;
        struct cp_format format = bound_rounding(class, type, 0);
        a->eps += -log1p(-format.unit);
        a->kappa = fmax(a->kappa, format.tiny);
    }
}

/* How much a sum of the weights of one row may have grown, and the weight of its largest score have
 * shrunk, in all changes: exp() of that (GATE-2). */
static double drift_of(const struct cp_arithmetic *a, const struct cp_counts *counts,
                       double largest_score) {
    return (counts->changes + 1.0) *
           (a->eps + a->u_n + a->u_part + 2.0 * (a->u_move + a->u_ref) * (largest_score + 1.0));
}

/* Weights are divided by n, which is at most the keys but for the drift and what additions err.
 * Times n, each is a weight that was rounded with so much larger a tiny. */
static void normalise(const struct cp_kernel_class *class, int n, double drift,
                      const struct cp_counts *counts, struct cp_arithmetic *a) {
    double most = n * exp(fmin(drift + counts->depth_n * a->u_n, 600.0)) * (1.0 + 0x1p-40);
    struct cp_format quotient =
        bound_rounding(class, class->score == CP_SUM_FP64 ? CP_FP64 : CP_FP32, 0);
    a->weights.tiny = most * (a->weights.tiny + 2.0 * quotient.tiny);
    a->weights.unit =
        bound_compound(a->weights.unit, bound_compound(quotient.unit, class->divide_error));
    a->eta_o *= most;
    a->u_div = a->eta_div = 0.0;
}

/* Beside a division that is rounded: its own error, and what is added to n, which is at least the
 * weight of the largest score. Where parts are divided, o or n is off by as much. */
void bound_divide(const struct cp_kernel_class *class, int n, double largest_score,
                  const struct cp_counts *counts, struct cp_arithmetic *a) {
    double drift = drift_of(a, counts, largest_score);
    /* n is as much smaller as the reference is above the maximum */
    double share = class->epsilon * exp(fmin(drift + 1.01 * class->above, 600.0));
    double more = class->divide_error;
    if (class->epsilon > 0.0) {
        more = bound_compound(more, bound_compound(share, unit_of(class)));
    }
    if (class->divides != 0) {
        a->u_part = more > 0.0 ? (a->u_part + more) * (1.0 + 0x1p-50) : a->u_part;
    } else if (class->normalises) {
        normalise(class, n, drift, counts, a);
        a->u_div = class->epsilon > 0.0 ? more : 0.0;
    } else if (more > 0.0) {
        a->u_div = bound_compound(a->u_div, more);
    }
}
