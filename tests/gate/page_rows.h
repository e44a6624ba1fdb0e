/* SPDX-License-Identifier: Apache-2.0 */
/* Online softmax, key by key in binary32, for the kernels page_*.c, which differ in where they find
 * a key: each defines find_key(). */
#ifndef CHUNKPROOF_TESTS_GATE_PAGE_ROWS_H
#define CHUNKPROOF_TESTS_GATE_PAGE_ROWS_H

#include <math.h>
#include <string.h>

#include "kernel_util.h"

/* Where a key lies: its first element in K and in V. Element i is `step(i)` further. */
struct key_place {
    long long k, v;
};

static struct key_place find_key(const struct cp_kernel_call *call, int s, int j, int kv_head);

/* Where element i of a key is, from its first one on. */
static long long k_step(const struct cp_kernel_call *call, int i);
static long long v_step(const struct cp_kernel_call *call, int i);

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int kv_head = head / group_size(call), d = call->head_dim, d_v = call->value_dim;
    float *o = call->workspace, m = -INFINITY, n = 0.0F;
    memset(o, 0, (size_t)d_v * sizeof *o);
    for (int j = 0; j < keys_seen(call, s, row); j++) {
        struct key_place at = find_key(call, s, j, kv_head);
        float dot = 0.0F;
        for (int i = 0; i < d; i++) {
            dot += load(call->q, CP_FP16, q_at(call, row, head) + i) *
                   load(call->k, CP_FP16, at.k + k_step(call, i));
        }
        float score = dot * (float)call->scale, largest = fmaxf(m, score);
        float weight = expf(score - largest), rescale = expf(m - largest);
        n = n * rescale + weight;
        for (int i = 0; i < d_v; i++) {
            o[i] = o[i] * rescale + weight * load(call->v, CP_FP16, at.v + v_step(call, i));
        }
        m = largest;
    }
    for (int i = 0; i < d_v; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, n > 0.0F ? o[i] / n : 0.0F);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n > 0.0F ? m + logf(n) : -INFINITY;
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->value_dim * sizeof(float);
}

/* What all of them declare. */
#define PAGE_KERNEL                                                                                \
    .abi = CP_KERNEL_ABI, .q_type = CP_FP16, .kv_type = CP_FP16, .out_type = CP_FP16,              \
    .lse_type = CP_FP32,                                                                           \
    .arithmetic = {.score = CP_SUM_FP32,                                                           \
                   .weights = CP_FP32,                                                             \
                   .values = CP_SUM_FP32,                                                          \
                   .partials = CP_FP32,                                                            \
                   .exp_error = EXPF_ERROR,                                                        \
                   .step = 1},                                                                     \
    .workspace = workspace, .attend = attend

#endif
