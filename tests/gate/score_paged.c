/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that changes scores (SCORE-1 to SCORE-4): a cap, a bias by distance for each query head,
 * and sinks, which are added last. It takes windows, too; runs may be partial and stand anywhere.
 * Key by key. */
#include <math.h>

#include "kernel_util.h"

/* WINDOW-1: does a row at p see the key at t? */
static int sees(const struct cp_kernel_call *call, int p, int t) {
    int in_window = call->window == 0 || t > p - call->window || t < call->kept;
    return t <= p + call->ahead && in_window;
}

/* The score of a key at t for a row at p, capped and biased. */
static float score_of(const struct cp_kernel_call *call, int head, long long q, long long k, int t,
                      int p) {
    float dot = 0.0F, cap = (float)call->cap;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    float s = dot * (float)call->scale;
    if (cap > 0.0F) {
        s = cap * tanhf(s / cap);
    }
    return call->slopes != NULL ? s + call->slopes[head] * (float)(t - p) : s;
}

/* The state of a row: m, n, and o in the workspace. */
struct state {
    float m, n, *o;
};

/* The state has the maximum m from now on. */
static void rescale(const struct cp_kernel_call *call, struct state *state, float m) {
    float factor = expf(state->m - m);
    state->n *= factor;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] *= factor;
    }
    state->m = m;
}

static void add_key(const struct cp_kernel_call *call, struct state *state, float score,
                    long long v) {
    if (score > state->m) {
        rescale(call, state, score);
    }
    float weight = expf(score - state->m);
    state->n += weight;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] += weight * load(call->v, CP_FP16, v + i);
    }
}

/* SCORE-3: a key without a value. */
static void add_sink(const struct cp_kernel_call *call, struct state *state, float sink) {
    if (sink > state->m) {
        rescale(call, state, sink);
    }
    state->n += expf(sink - state->m);
}

static void attend_row(const struct cp_kernel_call *call, int sequence, int row, int head) {
    struct state state = {-INFINITY, 0.0F, call->workspace};
    long long q = q_at(call, row, head), out = out_at(call, row, head);
    int g = head / group_size(call), p = call->position[row];
    for (int i = 0; i < call->head_dim; i++) {
        state.o[i] = 0.0F;
    }
    for (int k = 0; k < n_runs_of(call, sequence); k++) {
        struct cp_run run = run_of(call, sequence, k);
        for (int slot = 0; slot < run.n_tokens; slot++) {
            int t = run.position + slot;
            if (sees(call, p, t)) {
                long long key = k_at(call, run.chunk, g, slot);
                add_key(call, &state, score_of(call, head, q, key, t, p),
                        v_at(call, run.chunk, g, slot));
            }
        }
    }
    if (call->sinks != NULL) {
        add_sink(call, &state, call->sinks[head]);
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out + i, state.n > 0.0F ? state.o[i] / state.n : 0.0F);
    }
    if (call->lse != NULL) {
        store(call->lse, CP_FP32, lse_at(call, row, head),
              state.n > 0.0F ? state.m + logf(state.n) : -INFINITY);
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

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-paged",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .tanh_error = 0x1p-22,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
