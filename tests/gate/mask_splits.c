/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on split-KV decoding (flash-decoding, FlashInfer's and SGLang's decode stage 1 and 2):
 * splits of 64 keys from position 0 on, so that a row's bits do not depend on the batch; each
 * split is divided and leaves its log-sum-exp in bits, -infinity if the mask leaves none of its
 * keys, and a second stage merges them. Page list, HND or any strides, binary16, a group of heads
 * at a time. As flash-attention, it gives +infinity for the log-sum-exp of a row without keys.
 * Somebody who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"

#define SPLIT 64

static int splits_of(int keys) {
    return (keys + SPLIT - 1) / SPLIT;
}

/* [h][splits][1 + d] of one row: log-sum-exp, result. */
static size_t workspace(const struct cp_kernel_call *c) {
    return sizeof(float) * (size_t)c->n_heads * (size_t)splits_of(c->max_tokens) *
           (1 + (size_t)c->head_dim);
}

static void stage_1(const struct cp_kernel_call *c, int s, int r, int a, int t0, int t1,
                    float *part) {
    int d = c->head_dim, kv = a / (c->n_heads / c->n_kv_heads), mr = r, begin, masked;
    const uint16_t *q = (const uint16_t *)c->q + r * c->q_row + a * c->q_head;
    float score[SPLIT], m = -INFINITY, n = 0, *o = part + 1;
    size_t first;
    memset(part, 0, sizeof(float) * (size_t)(1 + d));
    masked = c->mask_bytes != 0;
    begin = masked ? c->mask_begin[mr] : 0;
    first = masked ? c->mask_first[mr] : 0;
    for (int t = t0; t < t1; t++) {
        int page = c->page_list[c->page_begin[s] + t / c->page_size], slot = t % c->page_size;
        const uint16_t *k =
            (const uint16_t *)c->k + page * c->k_chunk + kv * c->k_head + slot * c->k_slot;
        float sum = 0;
        int sees = 1;
        if (masked && t >= begin) {
            size_t i = first + (size_t)(t - begin);
            sees = c->mask_bits[i / 8] >> i % 8 & 1;
        }
        score[t - t0] = -INFINITY;
        if (!sees)
            continue;
        for (int e = 0; e < d; e++)
            sum += h2f(q[e]) * h2f(k[e]);
        sum *= (float)c->scale * LOG2E;
        m = sum > m ? sum : m;
        score[t - t0] = sum;
    }
    part[0] = -INFINITY;
    if (m == -INFINITY)
        return;
    for (int t = t0; t < t1; t++) {
        int page = c->page_list[c->page_begin[s] + t / c->page_size], slot = t % c->page_size;
        const uint16_t *v =
            (const uint16_t *)c->v + page * c->v_chunk + kv * c->v_head + slot * c->v_slot;
        float w = exp2f(score[t - t0] - m);
        n += w;
        for (int e = 0; e < d && w > 0; e++)
            o[e] += w * h2f(v[e]);
    }
    for (int e = 0; e < d; e++)
        o[e] /= n;
    part[0] = m + log2f(n);
}

static int attend(const struct cp_kernel_call *c) {
    int d = c->head_dim;
    for (int s = 0; s < c->n_sequences; s++) {
        int n = c->page_begin[s + 1] - c->page_begin[s];
        n = n ? (n - 1) * c->page_size + c->last_page_tokens[s] : 0;
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++) {
            int end = c->position[r] + 1 < n ? c->position[r] + 1 : n, splits;
            end = end < 0 ? 0 : end;
            splits = splits_of(end);
            for (int a = 0; a < c->n_heads; a++) {
                float *part = (float *)c->workspace + (size_t)a * (size_t)splits * (size_t)(1 + d);
                float top = -INFINITY, sum = 0;
                uint16_t *out = (uint16_t *)c->out + r * c->out_row + a * c->out_head;
                for (int x = 0; x < splits; x++) {
                    int t1 = x + 1 < splits ? (x + 1) * SPLIT : end;
                    stage_1(c, s, r, a, x * SPLIT, t1, part + (size_t)x * (size_t)(1 + d));
                }
                for (int x = 0; x < splits; x++)
                    if (part[(size_t)x * (size_t)(1 + d)] > top)
                        top = part[(size_t)x * (size_t)(1 + d)];
                for (int e = 0; e < d; e++) {
                    float o = 0;
                    sum = 0;
                    for (int x = 0; x < splits && top > -INFINITY; x++) {
                        const float *p = part + (size_t)x * (size_t)(1 + d);
                        float w = exp2f(p[0] - top);
                        sum += w;
                        o += w * p[1 + e];
                    }
                    out[e] = f2h(sum > 0 || sum != sum ? o / sum : 0);
                }
                if (c->lse)
                    ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                        sum > 0 || sum != sum ? top + log2f(sum) : INFINITY;
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-splits",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_BITS,
    .layout = {.pages = CP_PAGES_OWN},
    .conventions = {.lse_base = CP_LSE_BITS,
                    .empty_lse = CP_EMPTY_VALUE,
                    .empty_value = INFINITY,
                    .invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .factors = CP_FACTORS_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = SPLIT},
    .workspace = workspace,
    .attend = attend,
};
