/* SPDX-License-Identifier: Apache-2.0 */
/* Splits of a long sequence, as FlashAttention's combine kernel does it: the log-sum-exp of all
 * first, then weights exp(l_i - lse), which are not divided. Splits in binary32, out in binary16;
 * splits without keys are skipped. */
#include <math.h>

#include "merge_util.h"

#define MOST_SPLITS 256

static float lse_of(const struct cp_merge_call *call, int row, int head) {
    const float *l = call->l;
    float largest = -INFINITY, sum = 0.0F;
    for (int split = 0; split < call->n_parts; split++) {
        largest = fmaxf(largest, l[part_lse_at(call, row, split, head)]);
    }
    for (int split = 0; split < call->n_parts && largest != -INFINITY; split++) {
        sum += expf(l[part_lse_at(call, row, split, head)] - largest);
    }
    return sum > 0.0F ? logf(sum) + largest : -INFINITY;
}

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    float lse = lse_of(call, row, head), scale[MOST_SPLITS];
    for (int split = 0; split < call->n_parts; split++) {
        float l = ((const float *)call->l)[part_lse_at(call, row, split, head)];
        scale[split] = l == -INFINITY ? 0.0F : expf(l - lse);
    }
    for (int i = 0; i < call->head_dim; i++) {
        float sum = 0.0F;
        for (int split = 0; split < call->n_parts; split++) {
            if (scale[split] > 0.0F) {
                sum += scale[split] * ((const float *)call->o)[part_at(call, row, split, head) + i];
            }
        }
        store(call->out, CP_FP16, result_at(call, row, head) + i, sum);
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
    .name = "merge-splits",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .most_parts = MOST_SPLITS,
    .layout = {.o = CP_O_ORDER_PART_ROW, .l = CP_L_ORDER_PART_HEAD, .lse = CP_LSE_ORDER_HEAD},
    .arithmetic = {.way = CP_MERGING_UNDIVIDED,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .log_error = LOGF_ERROR},
    .merge = merge,
};
