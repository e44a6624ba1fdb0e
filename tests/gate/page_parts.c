/* SPDX-License-Identifier: Apache-2.0 */
/* As FlashInfer's paged prefill and decode with HND, one tensor [page][2][head][slot][d]: indptr,
 * indices, last_page_len, qo_indptr. The pages of a sequence are split in four parts at most,
 * whose states (o, log-sum-exp in base 2) are merged. Somebody who had seen the header and the
 * specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"
enum { PARTS = 4 };

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *kv = c->k, *q = c->q;
    uint16_t *out = c->out;
    float *lse = c->lse;
    const int d = c->head_dim, hk = c->n_kv_heads, h = c->n_heads, group = h / hk, P = c->page_size;
    const long long page_stride = 2LL * hk * P * d;
    const float scale = (float)c->scale * LOG2E;
    float *o = c->workspace, *part = o + d;
    for (int s = 0; s < c->n_sequences; s++) {
        const int *indices = c->page_list + c->page_begin[s];
        const int pages = c->page_begin[s + 1] - c->page_begin[s];
        (void)indices;
        const int kv_len = pages ? (pages - 1) * P + c->last_page_tokens[s] : 0;
        const int qo_len = c->query_begin[s + 1] - c->query_begin[s];
        const int per_part = imax(cdiv(pages, PARTS), 1);
        for (int i = 0; i < qo_len; i++)
            for (int a = 0; a < h; a++) {
                const long long r = c->query_begin[s] + i;
                const int seen = imin(kv_len, kv_len - qo_len + i + 1), g = a / group;
                const uint16_t *qr = q + (r * h + a) * d;
                float L = -INFINITY; /* of all parts until now, in bits */
                memset(o, 0, sizeof(float) * (size_t)d);
                for (int p = 0; p < PARTS; p++) {
                    float m = -INFINITY, n = 0;
                    memset(part, 0, sizeof(float) * (size_t)d);
                    for (int pg = p * per_part; pg < imin((p + 1) * per_part, pages); pg++) {
                        const long long page = indices[pg];
                        const int valid = imin(P, seen - pg * P);
                        if (valid <= 0)
                            break;
                        float x[4096], big = m;
                        const uint16_t *kb = kv + page * page_stride + (long long)g * P * d,
                                       *vb = kb + (long long)hk * P * d;
                        for (int t = 0; t < valid; t++) {
                            float dot = 0;
                            for (int e = 0; e < d; e++)
                                dot += h2f(qr[e]) * h2f(kb[t * d + e]);
                            x[t] = dot * scale;
                            big = fmaxf(big, x[t]);
                        }
                        (void)kb;
                        const float f = exp2f(m - big);
                        m = big, n *= f;
                        for (int e = 0; e < d; e++)
                            part[e] *= f;
                        for (int t = 0; t < valid; t++) {
                            const float w = exp2f(x[t] - m);
                            n += w;
                            for (int e = 0; e < d; e++)
                                part[e] += w * h2f(vb[t * d + e]);
                        }
                    }
                    if (n == 0)
                        continue;
                    const float Lp = m + log2f(n), M = fmaxf(L, Lp), w0 = exp2f(L - M),
                                w1 = exp2f(Lp - M), sum = w0 + w1;
                    for (int e = 0; e < d; e++)
                        o[e] = o[e] * (w0 / sum) + part[e] / n * (w1 / sum);
                    L = M + log2f(sum);
                }
                for (int e = 0; e < d; e++)
                    out[(r * h + a) * d + e] = f2h(o[e]);
                if (lse)
                    lse[r * h + a] = L;
            }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return 2 * sizeof(float) * (size_t)c->head_dim;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-parts",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .layout = {.pages = CP_PAGES_OWN,
               .order = CP_ORDER_HND,
               .gaps = CP_GAPS_NONE,
               .tensors = CP_TENSORS_PAGES},
    .conventions = {.lse_base = CP_LSE_BITS, .invariant = CP_INVARIANT_BATCH},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
