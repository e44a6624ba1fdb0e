/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel with a window of W keys before the row's own position (CONV-6), in two phases: first
 * the shared chunks, each for the rows of all sequences that share it, then each sequence's own. */
#include <math.h>

#include "kernel_util.h"

/* The state of a row and head: m, n, o. They stand one after the other in the workspace. */
static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    size_t at = (size_t)row * (size_t)call->n_heads + (size_t)head;
    return (float *)call->workspace + at * ((size_t)call->head_dim + 2);
}

static float score_of(const struct cp_kernel_call *call, long long q, long long k) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    return dot * (float)call->scale;
}

static void add_key(const struct cp_kernel_call *call, float *state, int row, int head, int chunk,
                    int slot) {
    int g = head / group_size(call);
    float s = score_of(call, q_at(call, row, head), k_at(call, chunk, g, slot));
    float m = fmaxf(state[0], s), rescale = expf(state[0] - m), weight = expf(s - m);
    long long v = v_at(call, chunk, g, slot);
    state[0] = m;
    state[1] = state[1] * rescale + weight;
    for (int i = 0; i < call->head_dim; i++) {
        state[2 + i] = state[2 + i] * rescale + weight * load(call->v, CP_FP16, v + i);
    }
}

/* The keys of a chunk that the rows of a sequence see: up to the row's own position, and, with a
 * window, from so many positions before it on. */
static void add_chunk(const struct cp_kernel_call *call, int s, struct cp_run run) {
    for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
        int p = call->position[row], end = seen_in_run(run, p);
        int begin = call->window < 0 ? 0 : p - call->window - run.position;
        for (int slot = begin > 0 ? begin : 0; slot < end; slot++) {
            for (int head = 0; head < call->n_heads; head++) {
                add_key(call, state_of(call, row, head), row, head, run.chunk, slot);
            }
        }
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head) {
    const float *state = state_of(call, row, head);
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i,
              state[1] > 0.0F ? state[2 + i] / state[1] : 0.0F);
    }
    if (call->lse != NULL) {
        store(call->lse, CP_FP32, lse_at(call, row, head),
              state[1] > 0.0F ? state[0] + logf(state[1]) : -INFINITY);
    }
}

static void each_state(const struct cp_kernel_call *call, int is_last) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            float *state = state_of(call, row, head);
            if (is_last) {
                finish(call, row, head);
                continue;
            }
            state[0] = -INFINITY;
            for (int i = 1; i < call->head_dim + 2; i++) {
                state[i] = 0.0F;
            }
        }
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_state(call, 0);
    for (int i = 0; i < call->n_shared; i++) {
        for (int s = call->shared[i].begin; s < call->shared[i].end; s++) {
            add_chunk(call, s, shared_run(call, i));
        }
    }
    for (int s = 0; s < call->n_sequences; s++) {
        for (int k = call->n_shared_chunks[s]; k < n_runs_of(call, s); k++) {
            add_chunk(call, s, run_of(call, s, k));
        }
    }
    each_state(call, 1);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->n_rows * (size_t)call->n_heads * ((size_t)call->head_dim + 2) *
           sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "window-phases",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW,
    .conventions = {.window = CP_WINDOW_BEFORE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
