/* SPDX-License-Identifier: Apache-2.0 */
/* What a declaration makes of a class (GATE-15), for `chunkproof bound` and for the gate. */
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
                                    .tanh_absolute = o->tanh_absolute};
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
