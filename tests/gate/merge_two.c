/* SPDX-License-Identifier: Apache-2.0 */
/* Two parts, a prefix and a suffix, as vLLM's merge_attn_states does it: binary32, weights divided
 * first, log-sum-exps [part][head][row]. An output without keys is multiplied by the weight 0. */
#include <math.h>

#include "merge_util.h"

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    const float *prefix = (const float *)call->o + part_at(call, row, 0, head);
    const float *suffix = (const float *)call->o + part_at(call, row, 1, head);
    float *out = (float *)call->out + result_at(call, row, head);
    float p_lse = ((const float *)call->l)[part_lse_at(call, row, 0, head)];
    float s_lse = ((const float *)call->l)[part_lse_at(call, row, 1, head)];
    float largest = fmaxf(p_lse, s_lse), lse = -INFINITY, p_scale = 0.0F, s_scale = 0.0F;
    if (largest != -INFINITY) {
        float p = expf(p_lse - largest), s = expf(s_lse - largest), sum = p + s;
        p_scale = p / sum;
        s_scale = s / sum;
        lse = logf(sum) + largest;
    }
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = prefix[i] * p_scale + suffix[i] * s_scale;
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
    .name = "merge-two",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .least_parts = 2,
    .most_parts = 2,
    .layout = {.l = CP_L_ORDER_PART_HEAD, .lse = CP_LSE_ORDER_HEAD},
    .empty_o = CP_EMPTY_O_NUMBERS,
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
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
