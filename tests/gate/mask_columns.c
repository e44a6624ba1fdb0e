/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on DeFT (flash tree attention): the mask is transposed first, so that each key has a
 * word of 64 bits that says which of 64 rows see it; then keys stand still, and each is loaded
 * once for the rows of its word. Rows of a sequence rise in position, so that those that see a
 * key by its window are a range. Any plan, by its table, with gaps; binary16; a window. Somebody
 * who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"

#define ROWS 64

/* A word for each key of a sequence, then [ROWS][2 + d]: maximum, divisor, sum of values. */
static size_t words_size(const struct cp_kernel_call *c) {
    return sizeof(uint64_t) * (size_t)(c->max_tokens + 1);
}

static size_t workspace(const struct cp_kernel_call *c) {
    return words_size(c) + sizeof(float) * ROWS * (2 + (size_t)c->head_dim);
}

/* Which of the rows r0 .. r1 - 1 see the key at t. */
static uint64_t column(const struct cp_kernel_call *c, int r0, int r1, int t) {
    int lo = r0, hi = r1;
    uint64_t word = 0;
    while (lo < r1 && c->position[lo] < t)
        lo++;
    if (c->window > 0)
        while (hi > lo && c->position[hi - 1] >= t + c->window)
            hi--;
    for (int r = lo; r < hi; r++) {
        int mr = r;
        uint64_t one = 1;
        if (c->mask_bytes && t >= c->mask_begin[mr]) {
            size_t i = c->mask_first[mr] + (size_t)(t - c->mask_begin[mr]);
            one = c->mask_bits[i / 8] >> i % 8 & 1;
        }
        word |= one << (r - r0);
    }
    return word;
}

static void group(const struct cp_kernel_call *c, int s, int r0, int r1) {
    uint64_t *words = c->workspace;
    float *states = (float *)((char *)c->workspace + words_size(c));
    size_t d = (size_t)c->head_dim, size = 2 + d;
    const int *chunk = c->table + s * c->table_width;
    const int *tokens = c->table_tokens + s * c->table_width;
    const int *at = c->table_position + s * c->table_width;
    for (int i = 0, j = 0; chunk[i] >= 0; i++)
        for (int slot = 0; slot < tokens[i]; slot++)
            words[j++] = column(c, r0, r1, at[i] + slot);
    for (int a = 0; a < c->n_heads; a++) {
        int kv = a / (c->n_heads / c->n_kv_heads);
        for (int r = r0; r < r1; r++) {
            float *x = states + (size_t)(r - r0) * size;
            memset(x, 0, sizeof(float) * size);
            x[0] = -INFINITY;
        }
        for (int i = 0, j = 0; chunk[i] >= 0; i++)
            for (int slot = 0; slot < tokens[i]; slot++) {
                uint64_t word = words[j++];
                const uint16_t *k = (const uint16_t *)c->k + chunk[i] * c->k_chunk +
                                    kv * c->k_head + slot * c->k_slot;
                const uint16_t *v = (const uint16_t *)c->v + chunk[i] * c->v_chunk +
                                    kv * c->v_head + slot * c->v_slot;
                while (word) {
                    int bit = __builtin_ctzll(word), r = r0 + bit;
                    word &= word - 1;
                    float *x = states + (size_t)(r - r0) * size, sum = 0, old, w;
                    const uint16_t *q = (const uint16_t *)c->q + r * c->q_row + a * c->q_head;
                    for (size_t e = 0; e < d; e++)
                        sum += h2f(q[e]) * h2f(k[e]);
                    sum *= (float)c->scale;
                    old = sum > x[0] ? sum : x[0];
                    w = expf(sum - old);
                    sum = old;
                    old = expf(x[0] - old);
                    x[0] = sum;
                    x[1] = x[1] * old + w;
                    for (size_t e = 0; e < d; e++)
                        x[2 + e] = x[2 + e] * old + w * h2f(v[e]);
                }
            }
        for (int r = r0; r < r1; r++) {
            const float *x = states + (size_t)(r - r0) * size;
            uint16_t *out = (uint16_t *)c->out + r * c->out_row + a * c->out_head;
            for (size_t e = 0; e < d; e++)
                out[e] = f2h(x[1] > 0 ? x[2 + e] / x[1] : 0);
            if (c->lse)
                ((float *)c->lse)[r * c->lse_row + a * c->lse_head] = x[0] + logf(x[1]);
        }
    }
}

static int attend(const struct cp_kernel_call *c) {
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r += ROWS)
            group(c, s, r, r + ROWS < c->query_begin[s + 1] ? r + ROWS : c->query_begin[s + 1]);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-columns",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_BITS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
