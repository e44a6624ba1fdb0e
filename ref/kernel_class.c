/* SPDX-License-Identifier: Apache-2.0 */
/* Formats, counts, factors and scaled queries of a kernel's declaration. An example: a declaration
 * with factors in binary16 and 8 partial results, each divided; 1,000 keys in 63 steps.
 *
 *   eps      that of the exponential and -ln(1 - 2^-11), 4.9e-4: each factor is off by as much
 *   parts    8            D = 9 divisions on the way of a key
 *   changes  63 + 8 + 9 = 80, each with a factor */
#include "chunkproof/kernel_class.h"

#include <math.h>

#include "tolerance_internal.h"

double cp_class_compound(double a, double b) {
    //@ assert rises: 0.0 <= product(a, b);
    return up_plus(up_plus(a, b), up_times(a, b));
}

struct cp_format cp_class_format(const struct cp_kernel_class *declared, int type, int exact) {
    struct cp_format format = type == CP_FP64   ? cp_format_fp64()
                              : type == CP_FP32 ? cp_format_fp32()
                              : type == CP_FP16 ? cp_format_fp16()
                                                : cp_format_bf16();
    format = declared->truncates ? cp_format_truncating(format) : format;
    format = declared->flushes ? cp_format_flushing(format) : format;
    format.unit = exact ? 0.0 : format.unit;
    format.tiny = exact && !declared->flushes ? 0.0 : format.tiny;
    return format;
}

/* ---- Counts (GATE-2) ---- */

int cp_class_parts(const struct cp_kernel_class *declared, int steps, int keys, int n_short) {
    int parts = steps;
    if (declared->n_parts > 0 && declared->n_parts < parts) {
        parts = declared->n_parts;
    }
    if (declared->part_keys > 0 && keys / declared->part_keys + n_short < parts) {
        parts = keys / declared->part_keys + n_short;
    }
    return parts;
}

int cp_class_divisions(const struct cp_kernel_class *declared, int parts) {
    return declared->divides != 0 ? parts + 1 : 0;
}

/* A key's weight changes when the maximum of its own part changes, which is at most once for each
 * step of the part; and when parts are merged. Each change is a product and an addition. In the
 * worst case additions come one after the other. A state that is stored in binary32 is not rounded:
 * what a division errs counts as a store. */
struct cp_counts cp_class_counts(const struct cp_kernel_class *declared, int n, int steps,
                                 int parts) {
    int divides = declared->divides != 0, divisions = cp_class_divisions(declared, parts);
    int changes = steps + parts;
    return (struct cp_counts){.depth_n = n + 2 * changes,
                              .depth_o = n + 1 + 2 * changes + divisions,
                              .stores = declared->partials == CP_FP32 ? divisions : changes,
                              .changes = changes + divisions,
                              .operations_n = n + (5.0 + 2.0 * divides) * changes,
                              .operations_o = 2.0 * n + (5.0 + 4.0 * divides) * changes};
}

/* ---- Roundings ---- */

struct cp_shift_arithmetic cp_class_of_shift(const struct cp_kernel_class *declared) {
    int type = declared->score == CP_SUM_FP64   ? CP_FP64
               : declared->score_promotes > 0   ? CP_FP32
               : declared->score == CP_SUM_FP16 ? CP_FP16
               : declared->score == CP_SUM_BF16 ? CP_BF16
                                                : CP_FP32;
    struct cp_format format = cp_class_format(declared, type, 0);
    return (struct cp_shift_arithmetic){format.unit, format.tiny, declared->tanh_error,
                                        declared->tanh_absolute};
}

/* What a number of a key is multiplied by is off by the format's tiny, or in proportion. The scale
 * follows for all terms, so that it was divided by in `key`. */
void cp_class_scale_query(struct cp_format product, struct cp_format format, double key,
                          struct cp_score_arithmetic *s) {
    double rounded = cp_class_compound(format.unit, product.unit);
    double unit = cp_class_compound(rounded, s->term_unit);
    double of_key = up_times(key, up_plus(format.tiny, 2.0 * product.tiny));
    double tiny = up_plus(s->term_tiny, of_key);
    s->term_tiny = up_times(up_plus(1.0, unit), tiny);
    s->term_unit = unit;
}

void cp_class_round_factors(const struct cp_kernel_class *declared, struct cp_arithmetic *a) {
    if (declared->factors != CP_FACTORS_FP32) {
        int type = declared->factors == CP_FACTORS_FP16 ? CP_FP16 : CP_BF16;
        struct cp_format format = cp_class_format(declared, type, 0);
        double logarithm = log1p(-format.unit);
        a->eps = up_plus(a->eps, up_function(-logarithm));
        a->kappa = fmax(a->kappa, format.tiny);
    }
}
