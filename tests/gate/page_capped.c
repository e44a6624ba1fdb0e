/* SPDX-License-Identifier: Apache-2.0 */
/* As FlashInfer's paged attention in bfloat16, NHD, K and V in the halves of one tensor
 * [2][page][slot][head][d]; logits_soft_cap. Scores of a row are kept, so there is one maximum.
 * The sum of weights is that of the rounded ones. Somebody who had seen the header and the
 * specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *q = c->q, *kd = c->k;
    uint16_t *out = c->out;
    float *lse = c->lse, *x = c->workspace;
    const int d = c->head_dim, hk = c->n_kv_heads, h = c->n_heads, P = c->page_size;
    const long long stride_n = (long long)hk * d, stride_page = P * stride_n;
    const uint16_t *vd = kd + c->capacity * stride_page;
    for (int s = 0; s < c->n_sequences; s++) {
        const int begin = c->page_begin[s];
        const int pages = c->page_begin[s + 1] - c->page_begin[s];
        const int kv_len = pages > 0 ? pages * P - P + c->last_page_tokens[s] : 0;
        const int rows = c->query_begin[s + 1] - c->query_begin[s];
        for (int i = 0; i < rows; i++)
            for (int a = 0; a < h; a++) {
                const long long r = c->query_begin[s] + i;
                const int seen = kv_len - rows + i + 1;
                const int g = a / (h / hk);
                float m = -INFINITY, n = 0, o[MOST_D];
                for (int j = 0; j < seen; j++) {
                    const long long page = c->page_list[begin + j / P];
                    const uint16_t *kp = kd + page * stride_page + j % P * stride_n + g * d;
                    float dot = 0;
                    for (int e = 0; e < d; e++)
                        dot += b2f(q[(r * h + a) * d + e]) * b2f(kp[e]);
                    x[j] = dot * (float)c->scale;
                    if (c->cap > 0)
                        x[j] = (float)c->cap * tanhf(x[j] / (float)c->cap);
                    m = fmaxf(m, x[j]);
                }
                for (int e = 0; e < d; e++)
                    o[e] = 0;
                for (int j = 0; j < seen; j++) {
                    const long long page = c->page_list[begin + j / P];
                    const uint16_t *vp = vd + page * stride_page + j % P * stride_n + g * d;
                    const float w = b2f(f2b(expf(x[j] - m)));
                    n += w;
                    for (int e = 0; e < d; e++)
                        o[e] += w * b2f(vp[e]);
                }
                for (int e = 0; e < d; e++)
                    out[(r * h + a) * d + e] = f2b(seen > 0 ? o[e] / n : 0);
                if (lse)
                    lse[r * h + a] = seen > 0 ? m + logf(n) : -INFINITY;
            }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return sizeof(float) * (size_t)c->page_table_width * (size_t)c->page_size;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-capped",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .scores = CP_SCORES_CAP,
    .layout = {.pages = CP_PAGES_OWN,
               .order = CP_ORDER_NHD,
               .gaps = CP_GAPS_NONE,
               .tensors = CP_TENSORS_HALVES},
    .conventions = {.invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .rounded_sum = 1,
                   .exp_error = 0x1p-22,
                   .tanh_error = 0x1p-22,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
