/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache whose keys are as if their run began at position 0, K as integers, V in
 * E4M3, with a scale for each token (CONV-10). The query is rotated back by the position of a run
 * and rounded to binary16; the scale of K multiplies the score, that of V each number, which is
 * rounded to binary16 then. A window, and sinks, which are not in the log-sum-exp. By the author of
 * cache_tiles.c. */
#include "cache_numbers.h"

/* The query, rotated back by row t of the table; neighbours are pairs. */
static void rotate_back(const struct cp_kernel_call *call, long long q, int t, float *to) {
    int half = call->rotary_dim / 2;
    const float *c = call->rotation + (long long)t * call->rotary_dim, *s = c + half;
    for (int i = 0; i < half; i++) {
        float x = load(call->q, CP_FP16, q + 2 * i), y = load(call->q, CP_FP16, q + 2 * i + 1);
        to[2 * i] = rounded(c[i] * x + s[i] * y, CP_FP16);
        to[2 * i + 1] = rounded(c[i] * y - s[i] * x, CP_FP16);
    }
    for (int i = 2 * half; i < call->head_dim; i++) {
        to[i] = load(call->q, CP_FP16, q + i);
    }
}

/* The rotated query with the key in a slot. */
static float product_of(const struct cp_kernel_call *call, const float *q, int chunk, int kv_head,
                        int slot) {
    const uint8_t *k = key_of(call, chunk, kv_head, slot);
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += q[i] * from_int8(k[i]);
    }
    return dot;
}

static void add_value(const struct cp_kernel_call *call, struct state *state, float score,
                      const uint8_t *v, float v_scale) {
    rescale(call, state, fmaxf(state->m, score));
    float weight = expf(score - state->m), p = rounded(weight, CP_FP16);
    state->n += weight;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] += p * rounded(from_e4m3(v[i]) * v_scale, CP_FP16);
    }
}

static void add_run(const struct cp_kernel_call *call, struct state *state, int row, int head,
                    struct cp_run run) {
    float *q = state->o + call->head_dim;
    int g = head / group_size(call), end = seen_in_run(run, call->position[row]);
    int before = call->position[row] - call->window + 1 - run.position;
    int begin = call->window > 0 && before > 0 ? before : 0;
    if (begin >= end) {
        return;
    }
    rotate_back(call, q_at(call, row, head), run.position, q);
    for (int slot = begin; slot < end; slot++) {
        long long at = scale_at(call, run.chunk, g, slot);
        float dot = product_of(call, q, run.chunk, g, slot);
        float score = dot * call->k_scales[at] * (float)call->scale;
        add_value(call, state, score, value_of(call, run.chunk, g, slot), call->v_scales[at]);
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    struct state state = {.o = call->workspace};
    clear(call, &state);
    for (int k = 0; k < n_runs_of(call, s); k++) {
        add_run(call, &state, row, head, run_of(call, s, k));
    }
    float lse = state.n > 0.0F ? state.m + logf(state.n) : -INFINITY;
    if (call->sinks != NULL && state.n > 0.0F) {
        rescale(call, &state, fmaxf(state.m, call->sinks[head]));
        state.n += expf(call->sinks[head] - state.m);
    }
    write_result(call, CP_FP16, row, head, &state);
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = lse;
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return 2 * (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-local-keys",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .keys = CP_KEYS_LOCAL,
    .pairs = CP_PAIRS_NEIGHBOURS,
    .masks = CP_MASKS_WINDOW,
    .scores = CP_SCORES_SINKS,
    .cache = {.k = CP_CACHE_INT8, .v = CP_CACHE_E4M3, .scales = CP_CACHE_SCALE_TOKEN},
    .conventions = {.sink = CP_SINK_BESIDE_LSE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .rotated = CP_FP16,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
