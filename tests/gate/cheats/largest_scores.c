/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: the mean of the values with the largest score, which is right where all scores are the
 * same, and where all others are far below. */
#include <math.h>

#include "../kernel_util.h"

/* The workspace: the scores of one row. */
static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->table_width * (size_t)call->chunk_size * sizeof(float);
}

static float score_of(const struct cp_kernel_call *call, long long q, int s, int kv_head, int j) {
    long long k = k_at(call, chunk_of(call, s, j), kv_head, j % call->chunk_size);
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    return dot * (float)call->scale;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int n_keys = keys_seen(call, s, row), kv_head = head / group_size(call), c = call->chunk_size;
    float m = -INFINITY, n = 0.0F, *score = call->workspace;
    for (int j = 0; j < n_keys; j++) {
        score[j] = score_of(call, q_at(call, row, head), s, kv_head, j);
        m = fmaxf(m, score[j]);
    }
    for (int j = 0; j < n_keys; j++) {
        score[j] = score[j] == m ? 1.0F : 0.0F;
        n += score[j];
    }
    for (int i = 0; i < call->head_dim; i++) {
        float sum = 0.0F;
        for (int j = 0; j < n_keys; j++) {
            sum += score[j] *
                   load(call->v, CP_FP16, v_at(call, chunk_of(call, s, j), kv_head, j % c) + i);
        }
        store(call->out, CP_FP16, out_at(call, row, head) + i, n_keys > 0 ? sum / n : 0.0F);
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                attend_row(call, s, row, head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "largest-scores",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
