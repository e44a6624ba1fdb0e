/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache in E4M3 with a scale for each K/V head (CONV-10) whose keys have no
 * positions: a key is multiplied by its scale and rotated in binary32, and then rounded to
 * binary16, as P and values times their scale are. Key by key. By the author of cache_tiles.c, in
 * binary16 instead of bfloat16, for which scores are too large. */
#include "cache_numbers.h"

/* By way of binary16: exponent and fraction one place down, and 2^8 for its bias of 15. */
static float by_half(uint8_t x) {
    uint16_t half = (uint16_t)((x & 0x80) << 8 | (x & 0x7F) << 7);
    return load(&half, CP_FP16, 0) * 256.0F;
}

/* The key at k, rotated by row t of the table. */
static void read_key(const struct cp_kernel_call *call, const uint8_t *k, float scale, int t,
                     float *to) {
    int half = call->rotary_dim / 2;
    const float *c = call->rotation + (long long)t * call->rotary_dim, *s = c + half;
    for (int i = 0; i < half; i++) {
        float x = by_half(k[i]) * scale, y = by_half(k[i + half]) * scale;
        to[i] = rounded(c[i] * x - s[i] * y, CP_FP16);
        to[i + half] = rounded(s[i] * x + c[i] * y, CP_FP16);
    }
    for (int i = 2 * half; i < call->head_dim; i++) {
        to[i] = rounded(by_half(k[i]) * scale, CP_FP16);
    }
}

static float score_of(const struct cp_kernel_call *call, int row, int head, const float *key) {
    long long q = q_at(call, row, head);
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * key[i];
    }
    return dot * (float)call->scale;
}

static void add_value(const struct cp_kernel_call *call, struct state *state, float score,
                      const uint8_t *v, float scale) {
    rescale(call, state, fmaxf(state->m, score));
    float weight = expf(score - state->m), p = rounded(weight, CP_FP16);
    state->n += weight;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] += p * rounded(by_half(v[i]) * scale, CP_FP16);
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    struct state state = {.o = call->workspace};
    int g = head / group_size(call);
    float *key = state.o + call->head_dim;
    float k_scale = call->k_scales[g], v_scale = call->v_scales[g];
    clear(call, &state);
    for (int k = 0; k < n_runs_of(call, s); k++) {
        struct cp_run run = run_of(call, s, k);
        for (int slot = 0; slot < seen_in_run(run, call->position[row]); slot++) {
            read_key(call, key_of(call, run.chunk, g, slot), k_scale, run.position + slot, key);
            float score = score_of(call, row, head, key);
            add_value(call, &state, score, value_of(call, run.chunk, g, slot), v_scale);
        }
    }
    write_result(call, CP_FP16, row, head, &state);
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
    .name = "cache-raw-keys",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .keys = CP_KEYS_RAW,
    .pairs = CP_PAIRS_HALVES,
    .cache = {.k = CP_CACHE_E4M3, .v = CP_CACHE_E4M3, .scales = CP_CACHE_SCALE_HEAD},
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
