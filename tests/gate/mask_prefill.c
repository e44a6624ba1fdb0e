/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on FlashInfer's BatchPrefillWithPagedKVCache with MaskMode::kCustom: one packed mask
 * for the batch (packbits, little bit order), paged KV by indptr/indices/last_page_len, query
 * rows and the heads of a group packed into tiles of 16, tiles of 32 keys, scores in bits, lse in
 * bits. Somebody who had seen the header and the specification alone wrote it, with the mistakes
 * that tests/faults/ makes of it. */
#include "page_numbers.h"

#define WIDEST 512
#define QT     16
#define KT     32

/* The mask of row r for the keys t0 .. t0 + n - 1 as one word: bit j is key t0 + j. */
static uint32_t mask_word(const struct cp_kernel_call *c, int r, int t0, int n) {
    uint32_t word = 0, all = n >= 32 ? 0xffffffffu : (1u << n) - 1;
    int begin = c->mask_begin[r], skip;
    size_t first = c->mask_first[r];
    /* Keys before begin have no bit. */
    skip = begin > t0 ? begin - t0 : 0;
    if (skip >= n)
        return all;
    size_t from = first + (size_t)(t0 + skip - begin);
    size_t last = first + (size_t)(t0 + n - 1 - begin);
    uint64_t bytes = 0;
    for (size_t i = from / 8; i <= last / 8; i++) {
        uint64_t byte = c->mask_bits[i];
        bytes |= byte << 8 * (i - from / 8);
    }
    word = (uint32_t)(bytes >> from % 8);
    word = skip ? word << skip | ((1u << skip) - 1) : word;
    return word & all;
}

static void tile(const struct cp_kernel_call *c, int s, int kv, int x0, int x1) {
    int group = c->n_heads / c->n_kv_heads, d = c->head_dim, q0 = c->query_begin[s];
    int n = c->page_begin[s + 1] - c->page_begin[s];
    n = n ? (n - 1) * c->page_size + c->last_page_tokens[s] : 0;
    float m[QT], den[QT];
    static _Thread_local float o[QT][WIDEST];
    int end_row = (x1 - 1) / group;
    int end = c->position[q0 + end_row] + 1;
    end = end > n ? n : end;
    for (int x = x0; x < x1; x++) {
        m[x - x0] = -INFINITY, den[x - x0] = 0;
        memset(o[x - x0], 0, sizeof(float) * (size_t)d);
    }
    for (int t0 = 0; t0 < end; t0 += KT) {
        int keys = end - t0 < KT ? end - t0 : KT;
        uint32_t seen[QT], any = 0;
        for (int x = x0; x < x1; x++) {
            int r = q0 + x / group, own = c->position[r] + 1 - t0;
            uint32_t word = keys == 32 ? 0xffffffffu : (1u << keys) - 1;
            own = own < 0 ? 0 : own > keys ? keys : own;
            word = own == 32 ? 0xffffffffu : (1u << own) - 1;
            if (c->mask_bytes && own)
                word &= mask_word(c, r, t0, own);
            seen[x - x0] = word;
            any |= word;
        }
        if (!any)
            continue;
        for (int x = x0; x < x1; x++) {
            int r = q0 + x / group, a = kv * group + x % group, y = x - x0;
            const uint16_t *q = (const uint16_t *)c->q + r * c->q_row + a * c->q_head;
            float score[KT], top = m[y];
            for (int j = 0; j < keys; j++) {
                int page = c->page_list[c->page_begin[s] + (t0 + j) / c->page_size];
                const uint16_t *k = (const uint16_t *)c->k + page * c->k_chunk + kv * c->k_head +
                                    (t0 + j) % c->page_size * c->k_slot;
                float sum = 0;
                score[j] = -INFINITY;
                if (!(seen[y] >> j & 1))
                    continue;
                for (int i = 0; i < d; i++)
                    sum += h2f(q[i]) * h2f(k[i]);
                score[j] = sum * ((float)c->scale * LOG2E);
                top = score[j] > top ? score[j] : top;
            }
            if (top == -INFINITY)
                continue;
            float scale = exp2f(m[y] - top);
            m[y] = top;
            den[y] *= scale;
            for (int i = 0; i < d; i++)
                o[y][i] *= scale;
            for (int j = 0; j < keys; j++) {
                float w = exp2f(score[j] - top);
                if (w == 0)
                    continue;
                int page = c->page_list[c->page_begin[s] + (t0 + j) / c->page_size];
                const uint16_t *v = (const uint16_t *)c->v + page * c->v_chunk + kv * c->v_head +
                                    (t0 + j) % c->page_size * c->v_slot;
                den[y] += w;
                for (int i = 0; i < d; i++)
                    o[y][i] += w * h2f(v[i]);
            }
        }
    }
    for (int x = x0; x < x1; x++) {
        int r = q0 + x / group, a = kv * group + x % group, y = x - x0;
        uint16_t *out = (uint16_t *)c->out + r * c->out_row + a * c->out_head;
        for (int i = 0; i < d; i++)
            out[i] = f2h(den[y] > 0 ? o[y][i] / den[y] : 0);
        if (c->lse)
            ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                den[y] > 0 ? m[y] + log2f(den[y]) : -INFINITY;
    }
}

static int attend(const struct cp_kernel_call *c) {
    int group = c->n_heads / c->n_kv_heads;
    for (int s = 0; s < c->n_sequences; s++) {
        int packed = (c->query_begin[s + 1] - c->query_begin[s]) * group;
        for (int kv = 0; kv < c->n_kv_heads; kv++)
            for (int x = 0; x < packed; x += QT)
                tile(c, s, kv, x, x + QT < packed ? x + QT : packed);
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > WIDEST ? "head_dim above 512" : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-prefill",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_BITS,
    .layout = {.pages = CP_PAGES_OWN},
    .conventions = {.lse_base = CP_LSE_BITS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = KT},
    .refuses = refuses,
    .attend = attend,
};
