/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of a long sequence, as vLLM's unified attention reduces them: of each one its maximum in
 * bits, its sum of weights, and its sum of weighted values, which nothing has divided yet. Segments
 * of all rows follow one another; out in bfloat16, and no log-sum-exp. */
#include <float.h>
#include <math.h>

#include "merge_util.h"

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    const float *m = call->l, *n = call->n, *s = call->o;
    int segments = parts_in(call, row);
    float largest = -FLT_MAX, sum = 0.0F;
    for (int i = 0; i < segments; i++) {
        largest = fmaxf(largest, m[part_lse_at(call, row, i, head)]);
    }
    for (int i = 0; i < segments; i++) {
        long long at = part_lse_at(call, row, i, head);
        sum += n[at] * exp2f(m[at] - largest);
    }
    for (int e = 0; e < call->head_dim; e++) {
        float all = 0.0F;
        for (int i = 0; i < segments; i++) {
            float scale = exp2f(m[part_lse_at(call, row, i, head)] - largest);
            float of_segment = s[part_at(call, row, i, head) + e];
            all += scale > 0.0F ? scale * of_segment : 0.0F;
        }
        store(call->out, CP_BF16, result_at(call, row, head) + e, sum > 0.0F ? all / sum : 0.0F);
    }
}

static int merge(const struct cp_merge_call *call) {
    each_merge(call, merge_row);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-segments",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .lse = CP_LSE_NEVER,
    .parts = CP_PARTS_BY_ROW,
    .form = CP_FORM_UNDIVIDED,
    .layout = {.o = CP_O_ORDER_ROW_PART, .l = CP_L_ORDER_ROW_PART},
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .div_error = DIVISION_ERROR},
    .merge = merge,
};
