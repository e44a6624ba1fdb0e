/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache of 8 bits (CONV-10) in two phases: K and V in E5M2, with a scale for each
 * K/V head. The scale of K is folded into that of the scores, and o is multiplied by that of V.
 * First come the shared chunks, each for the rows of all sequences that share it, then each
 * sequence's own. */
#include <math.h>

#include "kernel_util.h"

/* NUM-16: a number of E5M2 is the upper half of one of binary16. */
static float from_e5m2(uint8_t x) {
    uint16_t half = (uint16_t)(x << 8);
    return load(&half, CP_FP16, 0);
}

/* The state of a row and head: m, n, o. They stand one after the other in the workspace. */
static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    size_t at = (size_t)row * (size_t)call->n_heads + (size_t)head;
    return (float *)call->workspace + at * ((size_t)call->head_dim + 2);
}

static float score_of(const struct cp_kernel_call *call, long long q, long long k, float scale) {
    const uint8_t *key = (const uint8_t *)call->k + k;
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * from_e5m2(key[i]);
    }
    return dot * scale;
}

static void add_key(const struct cp_kernel_call *call, float *state, int row, int head, int chunk,
                    int slot) {
    int g = head / group_size(call);
    float scale = (float)call->scale * call->k_scales[g];
    float s = score_of(call, q_at(call, row, head), k_at(call, chunk, g, slot), scale);
    float m = fmaxf(state[0], s), old = expf(state[0] - m), weight = expf(s - m);
    const uint8_t *value = (const uint8_t *)call->v + v_at(call, chunk, g, slot);
    state[0] = m;
    state[1] = state[1] * old + weight;
    for (int i = 0; i < call->head_dim; i++) {
        state[2 + i] = state[2 + i] * old + weight * from_e5m2(value[i]);
    }
}

static void add_run(const struct cp_kernel_call *call, int s, struct cp_run run) {
    for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
        for (int slot = 0; slot < seen_in_run(run, call->position[row]); slot++) {
            for (int head = 0; head < call->n_heads; head++) {
                add_key(call, state_of(call, row, head), row, head, run.chunk, slot);
            }
        }
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head) {
    const float *state = state_of(call, row, head);
    float scale = call->v_scales[head / group_size(call)];
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i,
              state[1] > 0.0F ? state[2 + i] / state[1] * scale : 0.0F);
    }
    if (call->lse != NULL) {
        store(call->lse, CP_FP32, lse_at(call, row, head),
              state[1] > 0.0F ? state[0] + logf(state[1]) : -INFINITY);
    }
}

static int attend(const struct cp_kernel_call *call) {
    size_t states = (size_t)call->n_rows * (size_t)call->n_heads;
    memset(call->workspace, 0, states * ((size_t)call->head_dim + 2) * sizeof(float));
    for (size_t i = 0; i < states; i++) {
        *state_of(call, 0, (int)i) = -INFINITY;
    }
    for (int i = 0; i < call->n_shared; i++) {
        for (int at = call->shared[i].begin; at < call->shared[i].end; at++) {
            add_run(call, call->served[at], shared_run(call, i));
        }
    }
    for (int s = 0; s < call->n_sequences; s++) {
        for (int k = call->n_shared_chunks[s]; k < n_runs_of(call, s); k++) {
            add_run(call, s, run_of(call, s, k));
        }
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                finish(call, row, head);
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->n_rows * (size_t)call->n_heads * ((size_t)call->head_dim + 2) *
           sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-heads",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .cache = {.k = CP_CACHE_E5M2, .v = CP_CACHE_E5M2, .scales = CP_CACHE_SCALE_HEAD},
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
