/* SPDX-License-Identifier: Apache-2.0 */
/* As flash_attn_varlen_kvpacked: kv[total][2][head][d] in bfloat16, cu_seqlens; key by key.
 * Somebody who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *q = c->q, *kv = c->k;
    const long long h = c->n_heads, hk = c->n_kv_heads, d = c->head_dim;
    float o[MOST_D];
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int a = 0; a < h; a++) {
                float m = -INFINITY, n = 0;
                const long long g = a / (h / hk);
                for (int e = 0; e < d; e++)
                    o[e] = 0;
                for (int t = 0; t <= c->position[r]; t++) {
                    const long long row = c->page_begin[s] + t;
                    const uint16_t *k = kv + row * 2 * hk * d + g * d, *v = k + hk * d;
                    float dot = 0;
                    for (int e = 0; e < d; e++)
                        dot += b2f(q[(r * h + a) * d + e]) * b2f(k[e]);
                    dot *= (float)c->scale;
                    const float big = fmaxf(m, dot), f = expf(m - big), w = expf(dot - big);
                    n = n * f + w, m = big;
                    for (int e = 0; e < d; e++)
                        o[e] = o[e] * f + w * b2f(v[e]);
                }
                for (int e = 0; e < d; e++)
                    ((uint16_t *)c->out)[(r * h + a) * d + e] = f2b(n > 0 ? o[e] / n : 0);
            }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-ragged-pairs",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_NO_LSE,
    .layout = {.pages = CP_PAGES_RAGGED,
               .order = CP_ORDER_NHD,
               .gaps = CP_GAPS_NONE,
               .tensors = CP_TENSORS_PAGES},
    .conventions = {.invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = 1},
    .attend = attend,
};
