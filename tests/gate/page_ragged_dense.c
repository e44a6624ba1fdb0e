/* SPDX-License-Identifier: Apache-2.0 */
/* A plain varlen attention: [total][head][d] dense, cu_seqlens_q and cu_seqlens_k, causal from
 * the bottom right, GQA. As a naive one: all scores of a row, a softmax that is rounded to
 * binary16, and then the product with V. A row without keys gives 0 / 0. Somebody who had seen
 * the header and the specification alone wrote it, with the mistakes that tests/faults/ makes of
 * it. */
#include "page_numbers.h"

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *q = c->q, *k = c->k, *v = c->v;
    uint16_t *out = c->out;
    float *lse = c->lse, *x = c->workspace;
    const int h = c->n_heads, hk = c->n_kv_heads, d = c->head_dim;
    const int *cu_q = c->query_begin, *cu_k = c->page_begin;
    for (int s = 0; s < c->n_sequences; s++) {
        const long long k0 = cu_k[s];
        const int n = cu_k[s + 1] - cu_k[s];
        const int rows = cu_q[s + 1] - cu_q[s];
        for (int i = 0; i < rows; i++)
            for (int a = 0; a < h; a++) {
                const int g = a / (h / hk);
                const uint16_t *qr = q + ((long long)(cu_q[s] + i) * h + a) * d;
                const int seen = n - rows + i + 1;
                float m = -INFINITY, sum = 0;
                for (int j = 0; j < seen; j++) {
                    float dot = 0;
                    for (int e = 0; e < d; e++)
                        dot += h2f(qr[e]) * h2f(k[((k0 + j) * hk + g) * d + e]);
                    x[j] = dot * (float)c->scale;
                    m = fmaxf(m, x[j]);
                }
                for (int j = 0; j < seen; j++)
                    x[j] = expf(x[j] - m), sum += x[j];
                for (int j = 0; j < seen; j++)
                    x[j] = h2f(f2h(x[j] / sum));
                for (int e = 0; e < d; e++) {
                    float o = seen > 0 ? 0 : (float)NAN;
                    for (int j = 0; j < seen; j++)
                        o += x[j] * h2f(v[((k0 + j) * hk + g) * d + e]);
                    out[((long long)(cu_q[s] + i) * h + a) * d + e] = f2h(o);
                }
                if (lse)
                    lse[(long long)(cu_q[s] + i) * h + a] = m + logf(sum);
            }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *c) {
    /* no max_seqlen_k in the call: the longest sequence by the table of chunks */
    return sizeof(float) * ((size_t)c->table_width * (size_t)c->chunk_size + 16);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-ragged-dense",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .layout = {.pages = CP_PAGES_RAGGED, .gaps = CP_GAPS_NONE},
    .conventions = {.empty_out = CP_EMPTY_NAN, .invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .normalises = 1,
                   .exp_error = 0x1p-22,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
