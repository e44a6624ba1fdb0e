/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a ring, as ring attention merges them: each bfloat16 block comes with the log-sum-exp
 * that FlashAttention wrote, which is +infinity where it had no key, and is merged into out and
 * lse. These are binary32, and begin as the first block. */
#include <math.h>

#include "merge_util.h"

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    float *out = (float *)call->out + result_at(call, row, head);
    float *lse = (float *)call->lse + result_lse_at(call, row, head);
    *lse = isinf(*lse) ? -INFINITY : *lse;
    for (int i = 0; i < call->head_dim && *lse == -INFINITY; i++) {
        out[i] = 0.0F;
    }
    for (int block = 0; block < call->n_parts - 1; block++) {
        long long o = part_at(call, row, block, head);
        float l = ((const float *)call->l)[part_lse_at(call, row, block, head)];
        if (isinf(l)) {
            continue;
        }
        float m = fmaxf(*lse, l), a = expf(*lse - m), b = expf(l - m), n = a + b;
        for (int i = 0; i < call->head_dim; i++) {
            out[i] = a / n * out[i] + b / n * load(call->o, CP_BF16, o + i);
        }
        *lse = m + logf(n);
    }
}

static int merge(const struct cp_merge_call *call) {
    each_merge(call, merge_row);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-blocks",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .lse = CP_LSE_ALWAYS,
    .least_parts = 2,
    .in_place = 1,
    .empty_l = CP_EMPTY_L_EITHER,
    .arithmetic = {.way = CP_MERGING_PAIRWISE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP32,
                   .lse_type = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .log_error = LOGF_ERROR,
                   .div_error = DIVISION_ERROR},
    .merge = merge,
};
