/* SPDX-License-Identifier: Apache-2.0 */
/* A mask of bits (MASK-1) beside windows, key by key over runs. */
#include <math.h>
#include <string.h>

#include "window_ranges.h"

/* Does the mask leave the key at position t to a row? */
static int is_left(const struct cp_kernel_call *call, int row, int t) {
    if (call->mask_bits == NULL || t < call->mask_begin[row]) {
        return 1;
    }
    size_t i = call->mask_first[row] + (size_t)(t - call->mask_begin[row]);
    return call->mask_bits[i / 8] >> i % 8 & 1;
}

/* A row's state. */
struct state {
    float m, n, *o;
};

static void add_key(const struct cp_kernel_call *call, int row, int head, long long k, long long v,
                    struct state *state) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q_at(call, row, head) + i) * load(call->k, CP_FP16, k + i);
    }
    float score = dot * (float)call->scale, largest = fmaxf(state->m, score);
    float weight = expf(score - largest), rescale = expf(state->m - largest);
    state->n = state->n * rescale + weight;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] = state->o[i] * rescale + weight * load(call->v, CP_FP16, v + i);
    }
    state->m = largest;
}

static void add_run(const struct cp_kernel_call *call, struct cp_run run, int row, int head,
                    struct state *state) {
    struct seen seen = slots_of(call, call->position[row], run.position, run.n_tokens);
    int kv_head = head / group_size(call);
    for (int slot = 0; slot < seen.e; slot++) {
        int is_seen = slot < seen.a || slot >= seen.b;
        if (is_seen && is_left(call, row, run.position + slot)) {
            add_key(call, row, head, k_at(call, run.chunk, kv_head, slot),
                    v_at(call, run.chunk, kv_head, slot), state);
        }
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    struct state state = {-INFINITY, 0.0F, call->workspace};
    memset(state.o, 0, (size_t)call->head_dim * sizeof *state.o);
    for (int k = 0; k < n_runs_of(call, s); k++) {
        add_run(call, run_of(call, s, k), row, head, &state);
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i,
              state.n > 0.0F ? state.o[i] / state.n : 0.0F);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] =
            state.n > 0.0F ? state.m + logf(state.n) : -INFINITY;
    }
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
    .name = "mask-bits",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT | CP_MASKS_BITS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
