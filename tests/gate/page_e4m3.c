/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of E4M3 packed by 16 bytes, K and V alike, in the halves of one tensor
 * [2][page][head][d/16][slot][16], pages of 16, gaps behind pages; a scale for each K/V head.
 * Numbers times their scales are rounded to bfloat16 and staged; a query block of all heads of a
 * K/V head. Somebody who had seen the header and the specification alone wrote it, with the
 * mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"
enum { BLOCK = 16, X = 16 };

static int attend(const struct cp_kernel_call *c) {
    const uint8_t *kb = c->k;
    const uint8_t *vb = kb + c->v_offset;
    const uint16_t *q = c->q;
    const int d = c->head_dim, hk = c->n_kv_heads, per = c->n_heads / hk;
    const int groups = cdiv(d, X);
    const long long head = (long long)groups * BLOCK * X;
    float *kt = c->workspace, *vt = kt + BLOCK * d;
    float o[MOST_D];
    for (int s = 0; s < c->n_sequences; s++) {
        const int n = c->n_tokens[s], q0 = c->query_begin[s], rows = c->query_begin[s + 1] - q0;
        const int *bt = c->page_table + (long long)s * c->page_table_width;
        for (int r = 0; r < rows; r++)
            for (int a = 0; a < c->n_heads; a++) {
                const int pos = n - rows + r, g = a / per;
                const uint16_t *qr = q + (q0 + r) * c->q_row + a * c->q_head;
                const float ks = c->k_scales[g], vs = c->v_scales[g];
                float m = -INFINITY, l = 0;
                for (int e = 0; e < d; e++)
                    o[e] = 0;
                for (int j0 = 0, i = 0; j0 <= pos; j0 += BLOCK, i++) {
                    const long long page = bt[i];
                    const int w = imin(BLOCK, pos + 1 - j0);
                    float x[BLOCK], big = m;
                    for (int t = 0; t < w; t++)
                        for (int e = 0; e < imin(d, groups * X); e++) {
                            const long long at = g * head + e / X * (BLOCK * X) + t * X + e % X,
                                            vat = at;
                            kt[t * d + e] =
                                (float)cp_number8_to_double(kb[page * c->k_chunk + at], CP_E4M3) *
                                ks;
                            vt[t * d + e] = b2f(f2b(
                                (float)cp_number8_to_double(vb[page * c->k_chunk + vat], CP_E4M3) *
                                vs));
                        }
                    for (int t = 0; t < w; t++) {
                        float dot = 0;
                        for (int e = 0; e < d; e++)
                            dot += b2f(qr[e]) * kt[t * d + e];
                        x[t] = dot * (float)c->scale, big = fmaxf(big, x[t]);
                    }
                    const float f = expf(m - big);
                    m = big, l *= f;
                    for (int e = 0; e < d; e++)
                        o[e] *= f;
                    for (int t = 0; t < w; t++) {
                        const float p = expf(x[t] - m), pb = b2f(f2b(p));
                        l += p;
                        for (int e = 0; e < d; e++)
                            o[e] += pb * vt[t * d + e];
                    }
                }
                for (int e = 0; e < d; e++)
                    ((uint16_t *)c->out)[(q0 + r) * c->out_row + a * c->out_head + e] =
                        f2b(o[e] / l);
            }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return sizeof(float) * 2 * BLOCK * (size_t)c->head_dim;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-e4m3",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_NO_LSE,
    .cache = {.k = CP_CACHE_E4M3, .v = CP_CACHE_E4M3, .scales = CP_CACHE_SCALE_HEAD},
    .layout = {.pages = CP_PAGES_OWN,
               .page_size = BLOCK,
               .order = CP_ORDER_HND,
               .gaps = CP_GAPS_PAGES,
               .tensors = CP_TENSORS_HALVES,
               .k_pack = X,
               .v_pack = X},
    .conventions = {.empty_out = CP_EMPTY_NAN, .invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_BF16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = BLOCK},
    .workspace = workspace,
    .attend = attend,
};
