/* SPDX-License-Identifier: Apache-2.0 */
/* Splits whose maximum begins at a finite number, as many kernels' do: a split without keys has
 * just this log-sum-exp, and so has a row without keys. States run on from split to split, and the
 * outputs of splits without keys are not read. */
#include <math.h>

#include "merge_util.h"

#define BEGUN (-1e30F)

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    float *sum = call->workspace, m = BEGUN, n = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        sum[i] = 0.0F;
    }
    for (int split = 0; split < call->n_parts; split++) {
        const float *o = (const float *)call->o + part_at(call, row, split, head);
        float l = ((const float *)call->l)[part_lse_at(call, row, split, head)];
        float most = fmaxf(m, l), before = expf(m - most), weight = expf(l - most);
        if (l <= BEGUN) {
            continue;
        }
        n = n * before + weight;
        for (int i = 0; i < call->head_dim; i++) {
            sum[i] = sum[i] * before + weight * o[i];
        }
        m = most;
    }
    for (int i = 0; i < call->head_dim; i++) {
        float x = n > 0.0F ? sum[i] / n : 0.0F;
        store(call->out, CP_FP16, result_at(call, row, head) + i, x);
    }
    if (call->lse != NULL) {
        float lse = n > 0.0F ? m + logf(n) : BEGUN;
        ((float *)call->lse)[result_lse_at(call, row, head)] = lse;
    }
}

static int merge(const struct cp_merge_call *call) {
    each_merge(call, merge_row);
    return 0;
}

static size_t workspace(const struct cp_merge_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-begun",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .empty_lse = CP_EMPTY_VALUE,
    .empty_value = (double)BEGUN,
    .empty_l = CP_EMPTY_L_VALUE,
    .empty_l_value = (double)BEGUN,
    .arithmetic = {.way = CP_MERGING_STATES,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .log_error = LOGF_ERROR,
                   .div_error = DIVISION_ERROR},
    .workspace = workspace,
    .merge = merge,
};
