/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache of 8 bits (CONV-10): K in E4M3 and V as integers, with a scale for each
 * token and K/V head. A number is multiplied by its scale before it is used. Key by key; runs may
 * be partial and stand anywhere. */
#include "cache_numbers.h"

static float score_of(const struct cp_kernel_call *call, long long q, long long k, float scale) {
    const uint8_t *key = (const uint8_t *)call->k + k;
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * (from_e4m3(key[i]) * scale);
    }
    return dot * (float)call->scale;
}

static void add_value(const struct cp_kernel_call *call, struct state *state, float score,
                      long long v, float scale) {
    const uint8_t *value = (const uint8_t *)call->v + v;
    float m = fmaxf(state->m, score), old = expf(state->m - m), weight = expf(score - m);
    state->m = m;
    state->n = state->n * old + weight;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] = state->o[i] * old + weight * (from_int8(value[i]) * scale);
    }
}

static void attend_row(const struct cp_kernel_call *call, int sequence, int row, int head) {
    struct state state = {.o = call->workspace};
    long long q = q_at(call, row, head);
    int g = head / group_size(call), p = call->position[row];
    clear(call, &state);
    for (int k = 0; k < n_runs_of(call, sequence); k++) {
        struct cp_run run = run_of(call, sequence, k);
        for (int slot = 0; slot < seen_in_run(run, p); slot++) {
            long long at = scale_at(call, run.chunk, g, slot);
            float score = score_of(call, q, k_at(call, run.chunk, g, slot), call->k_scales[at]);
            add_value(call, &state, score, v_at(call, run.chunk, g, slot), call->v_scales[at]);
        }
    }
    write_result(call, CP_FP16, row, head, &state);
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-tokens",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .cache = {.k = CP_CACHE_E4M3, .v = CP_CACHE_INT8, .scales = CP_CACHE_SCALE_TOKEN},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
