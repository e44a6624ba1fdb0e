/* SPDX-License-Identifier: Apache-2.0 */
/* As with pairs of bfloat16 that are multiplied and added together, and promoted (NUM-20): of P V
 * the products of 8 keys are added in two short sums, of the even keys and of the odd ones, and
 * these in binary32. All scores are known before the first weight. n is a sum of binary32. */
#include <math.h>

#include "kernel_util.h"

#define PAIRS 4 /* keys in a short sum: one of each pair */

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->max_tokens * sizeof(float);
}

/* The nearest number of bfloat16. */
static float bfloat(double x) {
    return (float)cp_bf16_to_double(cp_bf16_from_double(x));
}

/* One more product: of two numbers of bfloat16 it is exact in binary64. A sum is rounded to
 * binary64 first, which changes nothing: it has more than twice the bits. */
static float add_bfloat(float sum, float a, float b) {
    return bfloat((double)sum + bfloat((double)a * b));
}

static float score_of(const struct cp_kernel_call *call, long long q, long long k) {
    float sum = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        sum += load(call->q, CP_BF16, q + i) * load(call->k, CP_BF16, k + i);
    }
    return sum * (float)call->scale;
}

/* One number of the sum of the weighted values. */
static float sum_of(const struct cp_kernel_call *call, int s, int n_keys, int kv_head,
                    const float *p, int i) {
    float o = 0.0F;
    for (int first = 0; first < n_keys; first += 2 * PAIRS) {
        float part[2] = {0.0F, 0.0F};
        for (int j = first; j < first + 2 * PAIRS && j < n_keys; j++) {
            long long v = v_at(call, chunk_of(call, s, j), kv_head, j % call->chunk_size);
            part[j % 2] = add_bfloat(part[j % 2], p[j], load(call->v, CP_BF16, v + i));
        }
        o += part[0] + part[1];
    }
    return o;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int n_keys = keys_seen(call, s, row), kv_head = head / group_size(call), c = call->chunk_size;
    float *p = call->workspace, m = -INFINITY, n = 0.0F;
    for (int j = 0; j < n_keys; j++) {
        p[j] =
            score_of(call, q_at(call, row, head), k_at(call, chunk_of(call, s, j), kv_head, j % c));
        m = fmaxf(m, p[j]);
    }
    for (int j = 0; j < n_keys; j++) {
        p[j] = expf(p[j] - m);
        n += p[j];
        p[j] = bfloat(p[j]);
    }
    for (int i = 0; i < call->head_dim; i++) {
        float o = sum_of(call, s, n_keys, kv_head, p, i);
        store(call->out, CP_BF16, out_at(call, row, head) + i, n_keys > 0 ? o / n : 0.0F);
    }
    if (call->lse != NULL) {
        store(call->lse, CP_FP32, lse_at(call, row, head), n_keys > 0 ? m + logf(n) : -INFINITY);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "promoted-bfloat",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .values = CP_SUM_BF16,
                   .values_promotes = PAIRS,
                   .partials = CP_FP32,
                   .rounded_sum = 0,
                   .exp_error = EXPF_ERROR,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
