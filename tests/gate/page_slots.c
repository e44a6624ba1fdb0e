/* SPDX-License-Identifier: Apache-2.0 */
/* As SGLang's Triton decode and extend: pages of one token, kv_indptr and kv_indices, buffers
 * [slot][head][d]. Stage 1 has up to 8 splits of a multiple of 32 tokens, each with its own o / n
 * and log-sum-exp; stage 2 merges them one after the other with a running maximum. Somebody who
 * had seen the header and the specification alone wrote it, with the mistakes that tests/faults/
 * makes of it. */
#include "page_numbers.h"
enum { SPLITS = 8, MIN_BLOCK = 32 };

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *kb = c->k, *vb = c->v, *q = c->q;
    const int d = c->head_dim, hk = c->n_kv_heads, group = c->n_heads / hk;
    float *mid = c->workspace, *mid_lse = mid + SPLITS * d, *acc = mid_lse + SPLITS;
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++) {
            const int *indices = c->page_list + c->page_begin[s];
            const int len = c->page_begin[s + 1] - c->page_begin[s], seen = c->position[r] + 1;
            const int per = imax(cdiv(cdiv(len, SPLITS), MIN_BLOCK), 1) * MIN_BLOCK;
            for (int a = 0; a < c->n_heads; a++) {
                const int g = a / group;
                const uint16_t *qr = q + r * c->q_row + a * c->q_head;
                for (int p = 0; p < SPLITS; p++) {
                    const int from = p * per, to = imin(from + per, seen);
                    float m = -INFINITY, n = 0;
                    if (from >= to)
                        continue;
                    for (int e = 0; e < d; e++)
                        acc[e] = 0;
                    for (int t = from; t < to; t += MIN_BLOCK) {
                        float x[MIN_BLOCK], big = m;
                        const int w = imin(MIN_BLOCK, to - t);
                        long long loc[MIN_BLOCK];
                        for (int j = 0; j < w; j++) {
                            loc[j] = indices[t + j];
                            float dot = 0;
                            for (int e = 0; e < d; e++)
                                dot += h2f(qr[e]) * h2f(kb[loc[j] * c->k_chunk + g * d + e]);
                            x[j] = dot * (float)c->scale;
                            big = fmaxf(big, x[j]);
                        }
                        const float f = expf(m - big);
                        n *= f, m = big;
                        for (int e = 0; e < d; e++)
                            acc[e] *= f;
                        for (int j = 0; j < w; j++) {
                            const float p16 = expf(x[j] - m);
                            n += p16;
                            for (int e = 0; e < d; e++)
                                acc[e] += p16 * h2f(vb[loc[j] * c->v_chunk + g * d + e]);
                        }
                    }
                    for (int e = 0; e < d; e++)
                        mid[p * d + e] = acc[e] / n;
                    mid_lse[p] = m + logf(n);
                }
                float m = -INFINITY, n = 0;
                for (int e = 0; e < d; e++)
                    acc[e] = 0;
                for (int p = 0; p < SPLITS; p++) {
                    if (p * per >= seen)
                        continue;
                    const float big = fmaxf(m, mid_lse[p]), f = expf(m - big),
                                w = expf(mid_lse[p] - big);
                    for (int e = 0; e < d; e++)
                        acc[e] = acc[e] * f + w * mid[p * d + e];
                    n = n * f + w, m = big;
                }
                for (int e = 0; e < d; e++)
                    ((uint16_t *)c->out)[r * c->out_row + a * c->out_head + e] =
                        f2h(n > 0 ? acc[e] / n : 0);
                if (c->lse)
                    ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                        n > 0 ? m + logf(n) : -INFINITY;
            }
        }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return sizeof(float) * (SPLITS + (SPLITS + 1) * (size_t)c->head_dim);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-slots",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .layout = {.pages = CP_PAGES_OWN, .page_size = 1, .order = CP_ORDER_NHD, .gaps = CP_GAPS_PAGES},
    .conventions = {.invariant = CP_INVARIANT_BATCH},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .exp_error = 0x1p-22,
                   .step = MIN_BLOCK},
    .workspace = workspace,
    .attend = attend,
};
