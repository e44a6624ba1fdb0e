/* SPDX-License-Identifier: Apache-2.0 */
/* Two states (v_a, s_a) and (v_b, s_b), as FlashInfer's merge_state does it: bfloat16, log-sum-exps
 * of base 2, arrays without gaps. */
#include <math.h>

#include "merge_util.h"

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    long long a = part_at(call, row, 0, head), b = part_at(call, row, 1, head);
    float s_a = ((const float *)call->l)[part_lse_at(call, row, 0, head)];
    float s_b = ((const float *)call->l)[part_lse_at(call, row, 1, head)];
    float s_max = fmaxf(s_a, s_b), lse = -INFINITY, a_scale = 0.0F, b_scale = 0.0F;
    if (s_max != -INFINITY) {
        s_a = exp2f(s_a - s_max);
        s_b = exp2f(s_b - s_max);
        a_scale = s_a / (s_a + s_b);
        b_scale = s_b / (s_a + s_b);
        lse = log2f(s_a + s_b) + s_max;
    }
    for (int i = 0; i < call->head_dim; i++) {
        float sum = a_scale > 0.0F ? a_scale * load(call->o, CP_BF16, a + i) : 0.0F;
        sum += b_scale > 0.0F ? b_scale * load(call->o, CP_BF16, b + i) : 0.0F;
        store(call->out, CP_BF16, result_at(call, row, head) + i, sum);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[result_lse_at(call, row, head)] = lse;
    }
}

static int merge(const struct cp_merge_call *call) {
    each_merge(call, merge_row);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-pair-bits",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .least_parts = 2,
    .most_parts = 2,
    .layout = {.o = CP_O_ORDER_PART_ROW,
               .l = CP_L_ORDER_PART_ROW,
               .lse = CP_LSE_ORDER_ROW,
               .gaps = CP_GAPS_NONE},
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .log_error = LOGF_ERROR,
                   .div_error = DIVISION_ERROR},
    .merge = merge,
};
