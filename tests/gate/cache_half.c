/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache of which V alone has 8 bits (CONV-10): V in E4M3 with one scale, which is
 * multiplied in, and then rounded to binary16, as tensor cores take it; P is in binary16, too. */
#include "cache_numbers.h"

static float score_of(const struct cp_kernel_call *call, long long q, long long k) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    return dot * (float)call->scale;
}

/* To score[] in the workspace: each key's; returns the largest. */
static float fill_scores(const struct cp_kernel_call *call, float *score, int s, int row,
                         int head) {
    float m = -INFINITY;
    int g = head / group_size(call), j = 0;
    for (int k = 0; k < n_runs_of(call, s); k++) {
        struct cp_run run = run_of(call, s, k);
        for (int slot = 0; slot < seen_in_run(run, call->position[row]); slot++, j++) {
            score[j] = score_of(call, q_at(call, row, head), k_at(call, run.chunk, g, slot));
            m = fmaxf(m, score[j]);
        }
    }
    return m;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    float *o = call->workspace, *score = o + call->head_dim, n = 0.0F;
    float m = fill_scores(call, score, s, row, head);
    int g = head / group_size(call), j = 0;
    memset(o, 0, (size_t)call->head_dim * sizeof *o);
    for (int k = 0; k < n_runs_of(call, s); k++) {
        struct cp_run run = run_of(call, s, k);
        for (int slot = 0; slot < seen_in_run(run, call->position[row]); slot++, j++) {
            const uint8_t *v = (const uint8_t *)call->v + v_at(call, run.chunk, g, slot);
            float weight = expf(score[j] - m);
            n += weight;
            for (int i = 0; i < call->head_dim; i++) {
                o[i] += rounded(weight, CP_FP16) *
                        rounded(from_e4m3(v[i]) * call->v_scales[0], CP_FP16);
            }
        }
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, n > 0.0F ? o[i] / n : 0.0F);
    }
    if (call->lse != NULL) {
        store(call->lse, CP_FP32, lse_at(call, row, head), n > 0.0F ? m + logf(n) : -INFINITY);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t keys = (size_t)call->table_width * (size_t)call->chunk_size;
    return ((size_t)call->head_dim + keys) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-half",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .cache = {.k = CP_CACHE_PLAIN, .v = CP_CACHE_E4M3, .scales = CP_CACHE_SCALE_TENSOR},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .k_dequantised = CP_FP16,
                   .v_dequantised = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
