/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels for caches of 8 bits have in common (CONV-10): their numbers, where these and their
 * scales lie, and numbers of 16 bits that are kept in binary32. */
#ifndef CHUNKPROOF_TESTS_GATE_CACHE_NUMBERS_H
#define CHUNKPROOF_TESTS_GATE_CACHE_NUMBERS_H

#include "score_changes.h"

/* NUM-16: exponent 4, bias 7, fraction 3. */
static inline float from_e4m3(uint8_t x) {
    uint32_t bits = (uint32_t)(x & 0x7F) << 20; /* of binary32, but for the bias */
    float size;
    memcpy(&size, &bits, sizeof size);
    size = (x & 0x7F) == 0x7F ? NAN : size * 0x1p120F;
    return (x & 0x80) != 0 ? -size : size;
}

static inline float from_int8(uint8_t x) {
    return (float)(int8_t)x;
}

/* The scale of a token and K/V head, where each has its own. */
static inline long long scale_at(const struct cp_kernel_call *call, int chunk, int kv_head,
                                 int slot) {
    return ((long long)chunk * call->n_kv_heads + kv_head) * call->chunk_size + slot;
}

/* A key or value of 8 bits. */
static inline const uint8_t *key_of(const struct cp_kernel_call *call, int chunk, int kv_head,
                                    int slot) {
    return (const uint8_t *)call->k + k_at(call, chunk, kv_head, slot);
}

static inline const uint8_t *value_of(const struct cp_kernel_call *call, int chunk, int kv_head,
                                      int slot) {
    return (const uint8_t *)call->v + v_at(call, chunk, kv_head, slot);
}

/* x as a type of 16 bits has it. */
static inline float rounded(float x, int type) {
    uint16_t number;
    store(&number, type, 0, x);
    return load(&number, type, 0);
}

/* The maximum rises to `largest`. */
static inline void rescale(const struct cp_kernel_call *call, struct state *state, float largest) {
    float factor = expf(state->m - largest);
    state->m = largest;
    state->n *= factor;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] *= factor;
    }
}

#endif
