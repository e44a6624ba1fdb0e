/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the first 64 parts of a row, and leaves out the others. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../merge_util.h"

#define MOST 64

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    int n = parts_in(call, row) < MOST ? parts_in(call, row) : MOST;
    float m = -INFINITY, sum = 0.0F, *out = (float *)call->out + result_at(call, row, head);
    for (int i = 0; i < n; i++) {
        m = fmaxf(m, ((const float *)call->l)[part_lse_at(call, row, i, head)]);
    }
    for (int e = 0; e < call->head_dim; e++) {
        out[e] = 0.0F;
    }
    for (int i = 0; i < n && m > -INFINITY; i++) {
        float w = expf(((const float *)call->l)[part_lse_at(call, row, i, head)] - m);
        const float *o = (const float *)call->o + part_at(call, row, i, head);
        sum += w;
        for (int e = 0; e < call->head_dim && w > 0.0F; e++) {
            out[e] += w * o[e];
        }
    }
    for (int e = 0; e < call->head_dim && m > -INFINITY; e++) {
        out[e] /= sum;
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[result_lse_at(call, row, head)] =
            m > -INFINITY ? m + logf(sum) : -INFINITY;
    }
}

static int merge(const struct cp_merge_call *call) {
    each_merge(call, merge_row);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-few",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .parts = CP_PARTS_BY_ROW,
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
