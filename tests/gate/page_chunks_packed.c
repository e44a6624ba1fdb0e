/* SPDX-License-Identifier: Apache-2.0 */
/* Pages are the chunks of the plan, of any plan: runs of a sequence, in any order. The layout
 * alone is fixed: dense, K packed by 8, [chunk][head][d/8][slot][8], and V
 * [chunk][head][slot][d]. Somebody who had seen the header and the specification alone wrote it,
 * with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"
enum { X = 8 };

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *K = c->k, *V = c->v, *Q = c->q;
    const int d = c->head_dim, hk = c->n_kv_heads, h = c->n_heads, C = c->chunk_size;
    const long long kh = (long long)cdiv(d, X) * X * C;
    const long long vh = (long long)d * C;
    float o[MOST_D], x[CP_MAX_CHUNK_SIZE];
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int a = 0; a < h; a++) {
                const uint16_t *q = Q + ((long long)r * h + a) * d;
                const int g = a / (h / hk);
                float m = -INFINITY, n = 0;
                memset(o, 0, sizeof(float) * (size_t)d);
                for (int i = 0;
                     i < c->table_width && c->table[(long long)s * c->table_width + i] >= 0; i++) {
                    const long long at = (long long)s * c->table_width + i;
                    const long long chunk = c->table[at];
                    const int begin = c->table_position[at];
                    const int seen = imin(c->table_tokens[at], c->position[r] + 1 - begin);
                    if (seen <= 0)
                        continue;
                    float big = m;
                    for (int t = 0; t < seen; t++) {
                        float dot = 0;
                        for (int e = 0; e < d; e++)
                            dot += h2f(q[e]) * h2f(K[chunk * hk * kh + g * kh +
                                                     (long long)(e / X) * C * X + t * X + e % X]);
                        x[t] = dot * (float)c->scale, big = fmaxf(big, x[t]);
                    }
                    const float f = expf(m - big);
                    m = big, n *= f;
                    for (int e = 0; e < d; e++)
                        o[e] *= f;
                    for (int t = 0; t < seen; t++) {
                        const float w = expf(x[t] - m);
                        n += w;
                        for (int e = 0; e < d; e++)
                            o[e] += w * h2f(V[chunk * hk * vh + g * vh + (long long)t * d + e]);
                    }
                }
                for (int e = 0; e < d; e++)
                    ((float *)c->out)[((long long)r * h + a) * d + e] = n > 0 ? o[e] / n : 0;
                if (c->lse)
                    ((float *)c->lse)[(long long)r * h + a] = n > 0 ? m + logf(n) : -INFINITY;
            }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-chunks-packed",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .layout = {.pages = CP_PAGES_CHUNKS, .order = CP_ORDER_HND, .gaps = CP_GAPS_NONE, .k_pack = X},
    .conventions = {.invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = 0},
    .attend = attend,
};
