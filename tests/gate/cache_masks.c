/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache in E4M3 with a scale for each token (CONV-10), with windows, keys ahead and
 * kept tokens: tiles of 8 slots with a mask. In powers of two: log2(e) and the scale of the scores
 * are multiplied into that of K, and that of V into P. binary32. By the author of cache_tiles.c. */
#include "cache_numbers.h"

#define TILE  8
#define LOG2E 1.44269504088896340736F
#define LN2   0.693147180559945309417F

/* NUM-16, of each byte; filled before the first call. */
static float number[256];

static float from_bits(int x) {
    int e = x >> 3 & 15, f = x & 7;
    float y = e == 0 ? ldexpf((float)f, -9) : ldexpf((float)(8 + f), e - 10);
    return (x & 0x80) != 0 ? -y : y;
}

__attribute__((constructor)) static void fill(void) {
    for (int x = 0; x < 256; x++) {
        number[x] = from_bits(x);
    }
}

static int sees(const struct cp_kernel_call *call, int p, int t) {
    return t <= p + call->ahead && (call->window == 0 || t > p - call->window || t < call->kept);
}

/* A run that a row and head read. */
struct reading {
    struct cp_run run;
    int row, head, kv_head;
};

/* Of a slot: -infinity where the row does not see it. */
static float score_of(const struct cp_kernel_call *call, const struct reading *r, int slot) {
    int p = call->position[r->row], t = r->run.position + slot;
    if (slot >= r->run.n_tokens || !sees(call, p, t)) {
        return -INFINITY;
    }
    const float *q = (const float *)call->q + q_at(call, r->row, r->head);
    const uint8_t *k = key_of(call, r->run.chunk, r->kv_head, slot);
    float k_scale = call->k_scales[scale_at(call, r->run.chunk, r->kv_head, slot)], dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += q[i] * number[k[i]];
    }
    return dot * (k_scale * ((float)call->scale * LOG2E));
}

static void add_value(const struct cp_kernel_call *call, const struct reading *r,
                      struct state *state, float p, int slot) {
    const uint8_t *v = value_of(call, r->run.chunk, r->kv_head, slot);
    state->n += p;
    p *= call->v_scales[scale_at(call, r->run.chunk, r->kv_head, slot)];
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] += p * number[v[i]];
    }
}

/* The slots from `first` on. */
static void add_tile(const struct cp_kernel_call *call, const struct reading *r,
                     struct state *state, int first) {
    float score[TILE], largest = state->m;
    for (int j = 0; j < TILE; j++) {
        score[j] = score_of(call, r, first + j);
        largest = fmaxf(largest, score[j]);
    }
    if (largest == -INFINITY) {
        return;
    }
    float factor = exp2f(state->m - largest);
    state->n *= factor;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] *= factor;
    }
    for (int j = 0; j < TILE; j++) {
        if (score[j] > -INFINITY) {
            add_value(call, r, state, exp2f(score[j] - largest), first + j);
        }
    }
    state->m = largest;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    struct state state = {.o = call->workspace};
    float *out = (float *)call->out + out_at(call, row, head);
    clear(call, &state);
    for (int k = 0; k < n_runs_of(call, s); k++) {
        struct reading r = {run_of(call, s, k), row, head, head / group_size(call)};
        for (int first = 0; first < r.run.n_tokens; first += TILE) {
            add_tile(call, &r, &state, first);
        }
    }
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = state.n > 0.0F ? state.o[i] / state.n : 0.0F;
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] =
            state.n > 0.0F ? (state.m + log2f(state.n)) * LN2 : -INFINITY;
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
    .name = "cache-masks",
    .q_type = CP_FP32,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .cache = {.k = CP_CACHE_E4M3, .v = CP_CACHE_E4M3, .scales = CP_CACHE_SCALE_TOKEN},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = EXPF_ERROR,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
