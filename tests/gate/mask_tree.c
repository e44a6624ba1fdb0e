/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on vLLM's tree attention backend and its Triton kernel unified_attention (2D), whose
 * qq_bias is 0 or -infinity for the keys of the tree: block tables, NHD, blocks of 16 times a
 * power of two, tiles of 16 packed rows and 32 keys, a cap, a sliding window, P in bfloat16.
 * Somebody who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"

#define WIDEST  512
#define BLOCK_M 16
#define TILE    32

#define MASKED -INFINITY

/* 0 where the mask leaves key t to row r, else -infinity. */
static float bias(const struct cp_kernel_call *c, int r, int t) {
    int begin;
    if (!c->mask_bytes)
        return 0;
    begin = c->mask_begin[r];
    if (t < begin)
        return 0;
    size_t i = c->mask_first[r] + (size_t)(t - begin);
    return c->mask_bits[i / 8] >> i % 8 & 1 ? 0 : MASKED;
}

static void block(const struct cp_kernel_call *c, int s, int kv, int x0, int x1) {
    static _Thread_local float acc[BLOCK_M][WIDEST];
    int group = c->n_heads / c->n_kv_heads, d = c->head_dim, q0 = c->query_begin[s];
    int p0 = c->position[q0 + x0 / group], p1 = c->position[q0 + (x1 - 1) / group];
    int end = p1 + 1 < c->n_tokens[s] ? p1 + 1 : c->n_tokens[s], start = 0;
    float M[BLOCK_M], L[BLOCK_M];
    for (int m = 0; m < x1 - x0; m++) {
        M[m] = -INFINITY;
        L[m] = 1; /* as vLLM has it: the first maximum makes it 0 */
        memset(acc[m], 0, sizeof(float) * (size_t)d);
    }
    if (c->window > 0 && p0 - c->window + 1 > 0)
        start = (p0 - c->window + 1) / TILE * TILE;
    for (int j = start; j < end; j += TILE) {
        int n = end - j < TILE ? end - j : TILE;
        for (int m = 0; m < x1 - x0; m++) {
            int r = q0 + (x0 + m) / group, a = kv * group + (x0 + m) % group, p = c->position[r];
            const uint16_t *q = (const uint16_t *)c->q + r * c->q_row + a * c->q_head;
            float S[TILE], top = M[m], alpha, sum = 0;
            for (int i = 0; i < n; i++) {
                int t = j + i, page = c->page_table[s * c->page_table_width + t / c->page_size];
                const uint16_t *k = (const uint16_t *)c->k + page * c->k_chunk + kv * c->k_head +
                                    t % c->page_size * c->k_slot;
                int in_window = c->window == 0 || p - t < c->window;
                float b = 0;
                S[i] = -INFINITY;
                if (t > p)
                    continue;
                if (!in_window)
                    continue;
                b = bias(c, r, t);
                float dot = 0;
                for (int e = 0; e < d; e++)
                    dot += b2f(q[e]) * b2f(k[e]);
                dot *= (float)c->scale;
                if (c->cap > 0)
                    dot = (float)c->cap * tanhf(dot / (float)c->cap);
                S[i] = dot + b;
                top = S[i] > top ? S[i] : top;
            }
            if (top == -INFINITY) {
                continue;
            }
            alpha = expf(M[m] - top);
            for (int e = 0; e < d; e++)
                acc[m][e] *= alpha;
            for (int i = 0; i < n; i++) {
                int t = j + i, page = c->page_table[s * c->page_table_width + t / c->page_size];
                const uint16_t *v = (const uint16_t *)c->v + page * c->v_chunk + kv * c->v_head +
                                    t % c->page_size * c->v_slot;
                float w = expf(S[i] - top);
                sum += w;
                if (w > 0 || w != w)
                    for (int e = 0; e < d; e++)
                        acc[m][e] += b2f(f2b(w)) * b2f(v[e]);
            }
            L[m] = L[m] * alpha + sum;
            M[m] = top;
        }
    }
    for (int m = 0; m < x1 - x0; m++) {
        int r = q0 + (x0 + m) / group, a = kv * group + (x0 + m) % group;
        uint16_t *out = (uint16_t *)c->out + r * c->out_row + a * c->out_head;
        int none = M[m] == -INFINITY;
        for (int e = 0; e < d; e++)
            out[e] = f2b(none ? 0 : acc[m][e] / L[m]);
        if (c->lse)
            ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                M[m] == -INFINITY ? -INFINITY : M[m] + logf(L[m]);
    }
}

static int attend(const struct cp_kernel_call *c) {
    int group = c->n_heads / c->n_kv_heads;
    for (int s = 0; s < c->n_sequences; s++) {
        int packed = (c->query_begin[s + 1] - c->query_begin[s]) * group;
        for (int kv = 0; kv < c->n_kv_heads; kv++)
            for (int x = 0; x < packed; x += BLOCK_M)
                block(c, s, kv, x, x + BLOCK_M < packed ? x + BLOCK_M : packed);
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > WIDEST ? "head_dim above 512" : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-tree",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW | CP_MASKS_BITS,
    .scores = CP_SCORES_CAP,
    .layout = {.pages = CP_PAGES_OWN,
               .page_unit = 16,
               .order = CP_ORDER_NHD,
               .gaps = CP_GAPS_PAGES},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .tanh_error = 0x1p-22,
                   .step = TILE},
    .refuses = refuses,
    .attend = attend,
};
