/* SPDX-License-Identifier: Apache-2.0 */
/* A paged cache of integers of 8 bits with a scale for each token and K/V head, as LMDeploy's and
 * SGLang's; NHD, gaps behind pages only. Key by key; the scale of K goes to the score, that of V
 * to the weight. Somebody who had seen the header and the specification alone wrote it, with the
 * mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

static int attend(const struct cp_kernel_call *c) {
    const int8_t *kb = c->k;
    const int8_t *vb = c->v;
    const uint16_t *q = c->q;
    const int d = c->head_dim, hk = c->n_kv_heads, P = c->page_size, per = c->n_heads / hk;
    const long long row = (long long)hk * d;
    float o[MOST_D], qf[MOST_D];
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int a = 0; a < c->n_heads; a++) {
                const int g = a / per;
                float m = -INFINITY, n = 0;
                for (int e = 0; e < d; e++)
                    o[e] = 0, qf[e] = h2f(q[r * c->q_row + a * c->q_head + e]) * (float)c->scale;
                for (int j = 0; j <= c->position[r]; j++) {
                    const long long page =
                                        c->page_table[(long long)s * c->page_table_width + j / P],
                                    slot = j % P;
                    const long long at = (page * hk + g) * P + slot, vat = at;
                    const int8_t *v = vb + page * c->v_chunk + slot * row + g * d;
                    float dot = 0;
                    for (int e = 0; e < d; e++)
                        dot += qf[e] * (float)kb[page * c->k_chunk + slot * row + g * d + e];
                    dot *= c->k_scales[at];
                    const float big = fmaxf(m, dot), f = expf(m - big), w = expf(dot - big);
                    const float wv = w * c->v_scales[vat];
                    n = n * f + w, m = big;
                    for (int e = 0; e < d; e++)
                        o[e] = o[e] * f + wv * (float)v[e];
                }
                for (int e = 0; e < d; e++)
                    ((uint16_t *)c->out)[r * c->out_row + a * c->out_head + e] =
                        f2h(n > 0 ? o[e] / n : 0);
                if (c->lse)
                    ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                        n > 0 ? m + logf(n) : -INFINITY;
            }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-int8",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .cache = {.k = CP_CACHE_INT8, .v = CP_CACHE_INT8, .scales = CP_CACHE_SCALE_TOKEN},
    .layout = {.pages = CP_PAGES_OWN, .order = CP_ORDER_NHD, .gaps = CP_GAPS_PAGES},
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
