/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on TensorRT-LLM's XQA and FMHA with a packed mask: per call the mask is repacked, with
 * causality and window in it, into rows of whole 32-bit words (workspace); the kernel then takes
 * 64 keys, two words, at a time, skips tiles whose words are 0, and tests no bit of tiles whose
 * words are all ones. Binary16, powers of two, one chunk table, trees, speculative rows by group.
 * Somebody who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"

#define WIDEST 512
#define TILE   64

static size_t words_of(int keys) {
    return ((size_t)keys + 63) / 64 * 2; /* whole tiles */
}

static size_t workspace(const struct cp_kernel_call *c) {
    return sizeof(uint32_t) * (words_of(c->max_tokens) + 2) * (size_t)c->n_rows;
}

/* Row r of a sequence of n keys as words: bit t % 32 of word t / 32 is key t. */
static void pack(const struct cp_kernel_call *c, int r, int n, uint32_t *word) {
    int p = c->position[r], end = p + 1 < n ? p + 1 : n, from = 0, words = (int)words_of(n);
    end = end < 0 ? 0 : end;
    if (c->window > 0)
        from = p - c->window + 1 > 0 ? p - c->window + 1 : 0;
    from = from > end ? end : from;
    for (int w = 0; w < words; w++) {
        uint32_t bits = 0;
        for (int j = 0; j < 32; j++) {
            int t = 32 * w + j;
            uint32_t one = t >= from && t < end;
            if (one && c->mask_bytes && t >= c->mask_begin[r]) {
                size_t i = c->mask_first[r] + (size_t)(t - c->mask_begin[r]);
                one = c->mask_bits[i / 8] >> i % 8 & 1;
            }
            bits |= one << j;
        }
        word[w] = bits;
    }
}

static int skips(const uint32_t *word) {
    return (word[0] | word[1]) == 0;
}

static int full(const uint32_t *word) {
    return word[0] == 0xffffffffu && word[1] == 0xffffffffu;
}

static int attend(const struct cp_kernel_call *c) {
    static _Thread_local float o[WIDEST];
    int d = c->head_dim, group = c->n_heads / c->n_kv_heads, cz = c->chunk_size;
    uint32_t *mask = c->workspace;
    size_t stride = words_of(c->max_tokens);
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            pack(c, r, c->n_tokens[s], mask + (size_t)r * stride);
    for (int s = 0; s < c->n_sequences; s++) {
        int n = c->n_tokens[s];
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int a = 0; a < c->n_heads; a++) {
                const uint16_t *q = (const uint16_t *)c->q + r * c->q_row + a * c->q_head;
                uint16_t *out = (uint16_t *)c->out + r * c->out_row + a * c->out_head;
                float m = -INFINITY, den = 0;
                memset(o, 0, sizeof(float) * (size_t)d);
                for (int t0 = 0; t0 < n; t0 += TILE) {
                    const uint32_t *word = mask + (size_t)r * stride + t0 / 32;
                    float score[TILE], top = m, old;
                    int keys = n - t0 < TILE ? n - t0 : TILE, all;
                    all = full(word);
                    if (skips(word))
                        continue;
                    for (int j = 0; j < keys; j++) {
                        int chunk = c->table[s * c->table_width + (t0 + j) / cz];
                        const uint16_t *k = (const uint16_t *)c->k + chunk * c->k_chunk +
                                            a / group * c->k_head + (t0 + j) % cz * c->k_slot;
                        float dot = 0;
                        score[j] = -INFINITY;
                        if (!all && !(word[j / 32] >> j % 32 & 1))
                            continue;
                        for (int i = 0; i < d; i++)
                            dot += h2f(q[i]) * h2f(k[i]);
                        score[j] = dot * ((float)c->scale * LOG2E);
                        top = score[j] > top ? score[j] : top;
                    }
                    if (top == -INFINITY)
                        continue;
                    old = exp2f(m - top);
                    den *= old;
                    for (int i = 0; i < d; i++)
                        o[i] *= old;
                    m = top;
                    for (int j = 0; j < keys; j++) {
                        int chunk = c->table[s * c->table_width + (t0 + j) / cz];
                        const uint16_t *v = (const uint16_t *)c->v + chunk * c->v_chunk +
                                            a / group * c->v_head + (t0 + j) % cz * c->v_slot;
                        float w = exp2f(score[j] - m);
                        float half = h2f(f2h(w));
                        den += w;
                        for (int i = 0; i < d && w > 0; i++)
                            o[i] += half * h2f(v[i]);
                    }
                }
                if (den == 0)
                    den = 1;
                for (int i = 0; i < d; i++)
                    out[i] = f2h(o[i] / den);
            }
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > WIDEST ? "head_dim above 512" : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-packed",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .masks = CP_MASKS_WINDOW | CP_MASKS_BITS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = TILE},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
