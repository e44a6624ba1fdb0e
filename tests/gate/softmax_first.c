/* SPDX-License-Identifier: Apache-2.0 */
/* The whole softmax of a row first, as frameworks write it: weights are divided by their sum, to
 * which something is added that keeps it from 0; then they meet V. All in binary32. */
#include <math.h>

#include "attention.h"

#define EPSILON 0x1p-20

/* Weights become their shares in n. */
static void divide_weights(const struct cp_kernel_call *call, int n_keys, float n) {
    float *weight = call->workspace, inverse = 1.0F / (n + (float)EPSILON);
    for (int j = 0; j < n_keys; j++) {
        weight[j] *= inverse;
    }
}

static void add_up(const struct cp_kernel_call *call, int s, int row, int head) {
    int n_keys = keys_seen(call, s, row), kv_head = head / group_size(call), c = call->chunk_size;
    const float *weight = call->workspace;
    for (int i = 0; i < call->head_dim; i++) {
        float sum = 0.0F;
        for (int j = 0; j < n_keys; j++) {
            long long v = v_at(call, chunk_of(call, s, j), kv_head, j % c);
            sum += weight[j] * load(call->v, CP_FP16, v + i);
        }
        store(call->out, CP_FP32, out_at(call, row, head) + i, sum);
    }
}

static void attend_one(const struct cp_kernel_call *call, int s, int row, int head) {
    float m = score_row(call, s, row, head), n = weigh_row(call, s, row, m);
    divide_weights(call, keys_seen(call, s, row), n);
    add_up(call, s, row, head);
    if (call->lse != NULL) {
        store(call->lse, CP_FP32, lse_at(call, row, head), n > 0.0F ? m + logf(n) : -INFINITY);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_one);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "softmax-first",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .conventions = {.invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .normalises = 1,
                   .exp_error = EXPF_ERROR,
                   .divide_error = 0x1.02p-24,
                   .epsilon = EPSILON,
                   .step = 0},
    .workspace = scores_of_a_row,
    .attend = attend,
};
