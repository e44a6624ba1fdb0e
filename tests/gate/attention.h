/* SPDX-License-Identifier: Apache-2.0 */
/* Plain attention in binary16 and binary32, row by row, for kernels that cheat or fight: each takes
 * what it does not do itself. The workspace holds the scores of one row, then their weights. */
#ifndef CHUNKPROOF_TESTS_GATE_ATTENTION_H
#define CHUNKPROOF_TESTS_GATE_ATTENTION_H

#include <math.h>

#include "kernel_util.h"

/* The descriptor of a kernel that says it computes so, and what else it says. */
#define PLAIN_KERNEL(its_name, ...)                                                                \
    {                                                                                              \
        .abi = CP_KERNEL_ABI, .name = its_name, .q_type = CP_FP16, .kv_type = CP_FP16,             \
        .out_type = CP_FP16, .lse_type = CP_NO_LSE,                                                \
        .arithmetic = {.score = CP_SUM_FP32,                                                       \
                       .weights = CP_FP32,                                                         \
                       .values = CP_SUM_FP32,                                                      \
                       .partials = CP_FP32,                                                        \
                       .exp_error = EXPF_ERROR,                                                    \
                       .step = 1},                                                                 \
        __VA_ARGS__                                                                                \
    }

static inline size_t scores_of_a_row(const struct cp_kernel_call *call) {
    return (size_t)call->table_width * (size_t)call->chunk_size * sizeof(float);
}

static inline float score_of(const struct cp_kernel_call *call, long long q, int s, int kv_head,
                             int j) {
    long long k = k_at(call, chunk_of(call, s, j), kv_head, j % call->chunk_size);
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    return dot * (float)call->scale;
}

/* The scores of a row; returns the largest. */
static inline float score_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int n_keys = keys_seen(call, s, row), kv_head = head / group_size(call);
    float m = -INFINITY, *score = call->workspace;
    for (int j = 0; j < n_keys; j++) {
        score[j] = score_of(call, q_at(call, row, head), s, kv_head, j);
        m = fmaxf(m, score[j]);
    }
    return m;
}

/* Scores become weights; returns their sum. */
static inline float weigh_row(const struct cp_kernel_call *call, int s, int row, float m) {
    float n = 0.0F, *score = call->workspace;
    for (int j = 0; j < keys_seen(call, s, row); j++) {
        score[j] = expf(score[j] - m);
        n += score[j];
    }
    return n;
}

/* Writes the row: the weighted sum of V, divided by n. */
static inline void write_row(const struct cp_kernel_call *call, int s, int row, int head, float n) {
    int n_keys = keys_seen(call, s, row), kv_head = head / group_size(call), c = call->chunk_size;
    const float *weight = call->workspace;
    for (int i = 0; i < call->head_dim; i++) {
        float sum = 0.0F;
        for (int j = 0; j < n_keys; j++) {
            sum += weight[j] *
                   load(call->v, CP_FP16, v_at(call, chunk_of(call, s, j), kv_head, j % c) + i);
        }
        store(call->out, CP_FP16, out_at(call, row, head) + i, n_keys > 0 ? sum / n : 0.0F);
    }
}

static inline void write_zeros(const struct cp_kernel_call *call, int row, int head) {
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, 0.0F);
    }
}

static inline void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    float m = score_row(call, s, row, head);
    write_row(call, s, row, head, weigh_row(call, s, row, m));
}

#endif
