/* SPDX-License-Identifier: Apache-2.0 */
/* The options in the words of a declaration. */
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
