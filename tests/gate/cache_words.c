/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache of integers with one scale for K and one for V (CONV-10), which are read as
 * words of four. A sequence of one row is decoded key by key, and numbers are multiplied by their
 * scale; the rows of others go chunk by chunk, and scales are in that of the scores and on o. By
 * the author of cache_tiles.c. */
#include "cache_numbers.h"

/* Four numbers of a word, the lowest byte first. */
static void unpack(uint32_t word, float scale, float *to) {
    for (int j = 0; j < 4; j++) {
        to[j] = (float)(int8_t)(word >> (8 * j) & 0xFF) * scale;
    }
}

/* d numbers, and what is left of the last word. */
static void read_numbers(const uint8_t *from, float scale, float *to, int d) {
    int i = 0;
    for (; i + 4 <= d; i += 4) {
        uint32_t word;
        memcpy(&word, from + i, sizeof word);
        unpack(word, scale, to + i);
    }
    for (; i < d; i++) {
        to[i] = from_int8(from[i]) * scale;
    }
}

static float product_of(const struct cp_kernel_call *call, int row, int head, const float *k) {
    long long q = q_at(call, row, head);
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * k[i];
    }
    return dot;
}

static void finish(const struct cp_kernel_call *call, int row, int head, const struct state *state,
                   float v_scale) {
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i,
              state->n > 0.0F ? state->o[i] * v_scale / state->n : 0.0F);
    }
}

static void decode(const struct cp_kernel_call *call, int s, int row, int head) {
    struct state state = {.o = call->workspace};
    float *x = state.o + call->head_dim, k_scale = call->k_scales[0], v_scale = call->v_scales[0];
    clear(call, &state);
    for (int j = 0; j < keys_seen(call, s, row); j++) {
        int chunk = chunk_of(call, s, j), slot = j % call->chunk_size;
        read_numbers(key_of(call, chunk, head / group_size(call), slot), k_scale, x,
                     call->head_dim);
        float score = product_of(call, row, head, x) * (float)call->scale;
        rescale(call, &state, fmaxf(state.m, score));
        float weight = expf(score - state.m);
        state.n += weight;
        read_numbers(value_of(call, chunk, head / group_size(call), slot), v_scale, x,
                     call->head_dim);
        for (int i = 0; i < call->head_dim; i++) {
            state.o[i] += weight * x[i];
        }
    }
    finish(call, row, head, &state, 1.0F);
}

/* The first n keys of a chunk; x has d numbers, and then the scores. */
static void add_chunk(const struct cp_kernel_call *call, struct state *state, int chunk, int n,
                      int row, int head) {
    float *x = state->o + call->head_dim, *score = x + call->head_dim, largest = state->m;
    for (int slot = 0; slot < n; slot++) {
        read_numbers(key_of(call, chunk, head / group_size(call), slot), 1.0F, x, call->head_dim);
        score[slot] = product_of(call, row, head, x) * ((float)call->scale * call->k_scales[0]);
        largest = fmaxf(largest, score[slot]);
    }
    rescale(call, state, largest);
    for (int slot = 0; slot < n; slot++) {
        float weight = expf(score[slot] - largest);
        read_numbers(value_of(call, chunk, head / group_size(call), slot), 1.0F, x, call->head_dim);
        state->n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            state->o[i] += weight * x[i];
        }
    }
}

static void prefill(const struct cp_kernel_call *call, int s, int row, int head) {
    struct state state = {.o = call->workspace};
    int n = keys_seen(call, s, row), c = call->chunk_size;
    clear(call, &state);
    for (int first = 0; first < n; first += c) {
        int keys = n - first < c ? n - first : c;
        add_chunk(call, &state, chunk_of(call, s, first), keys, row, head);
    }
    finish(call, row, head, &state, call->v_scales[0]);
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    if (call->query_begin[s + 1] - call->query_begin[s] == 1) {
        decode(call, s, row, head);
    } else {
        prefill(call, s, row, head);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (2 * (size_t)call->head_dim + (size_t)call->chunk_size) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-words",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .cache = {.k = CP_CACHE_INT8, .v = CP_CACHE_INT8, .scales = CP_CACHE_SCALE_TENSOR},
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
