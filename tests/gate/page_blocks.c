/* SPDX-License-Identifier: Apache-2.0 */
/* As vLLM's unified paged attention in Triton: block_table, seq_lens, query_start_loc; blocks of
 * 16 slots, kv_cache[2][num_blocks][16][num_kv_heads][head_dim]. A program has the rows of a
 * sequence by 4, and all query heads of one K/V head; it goes from block to block. Somebody who
 * had seen the header and the specification alone wrote it, with the mistakes that tests/faults/
 * makes of it. */
#include "page_numbers.h"
enum { BLOCK = 16, BLOCK_Q = 4 };

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *kc = c->k, *vc = kc + c->v_offset, *q = c->q;
    uint16_t *out = c->out;
    const int d = c->head_dim, hk = c->n_kv_heads, h = c->n_heads, group = h / hk;
    const long long slot_stride = (long long)hk * d, block_stride = BLOCK * slot_stride;
    float *kt = c->workspace, *vt = kt + BLOCK * d, *acc = vt + BLOCK * d;
    int bt_stride = c->page_table_width;
    for (int s = 0; s < c->n_sequences; s++) {
        const int q0 = c->query_begin[s], q_len = c->query_begin[s + 1] - q0,
                  seq_len = c->n_tokens[s];
        const int context = seq_len - q_len;
        const int *bt = c->page_table + (long long)s * bt_stride;
        for (int qb = 0; qb < q_len; qb += BLOCK_Q) {
            const int rows = imin(BLOCK_Q, q_len - qb);
            const int blocks = cdiv(imin(context + qb + rows, seq_len), BLOCK);
            for (int g = 0; g < hk; g++) {
                float m[BLOCK_Q * 64], l[BLOCK_Q * 64];
                const int n = rows * group;
                for (int i = 0; i < n; i++)
                    m[i] = -INFINITY, l[i] = 0;
                memset(acc, 0, sizeof(float) * (size_t)n * (size_t)d);
                for (int j = 0; j < blocks; j++) {
                    const long long block = bt[j];
                    long long vblock = block;
                    for (int t = 0; t < BLOCK; t++)
                        for (int e = 0; e < d; e++) {
                            const int in = j * BLOCK + t < seq_len;
                            const long long at = block * block_stride + t * slot_stride + g * d + e;
                            const long long vat =
                                vblock * block_stride + t * slot_stride + g * d + e;
                            kt[t * d + e] = in ? h2f(kc[at]) : 0,
                                       vt[t * d + e] = in ? h2f(vc[vat]) : 0;
                            (void)vblock;
                        }
                    for (int i = 0; i < n; i++) {
                        const int row = qb + i / group, a = g * group + i % group,
                                  pos = context + row;
                        const uint16_t *qr = q + (long long)(q0 + row) * h * d + (long long)a * d;
                        float S[BLOCK], mj = m[i], sum = 0;
                        for (int t = 0; t < BLOCK; t++) {
                            float dot = 0;
                            for (int e = 0; e < d; e++)
                                dot += h2f(qr[e]) * kt[t * d + e];
                            S[t] = j * BLOCK + t <= pos ? (float)c->scale * dot : -INFINITY;
                            mj = fmaxf(mj, S[t]);
                        }
                        const float alpha = expf(m[i] - mj);
                        for (int t = 0; t < BLOCK; t++)
                            S[t] = expf(S[t] - mj), sum += S[t], S[t] = h2f(f2h(S[t]));
                        l[i] = l[i] * alpha + sum, m[i] = mj;
                        for (int e = 0; e < d; e++) {
                            float o = acc[i * d + e] * alpha;
                            for (int t = 0; t < BLOCK; t++)
                                o += S[t] * vt[t * d + e];
                            acc[i * d + e] = o;
                        }
                    }
                }
                for (int i = 0; i < n; i++)
                    for (int e = 0; e < d; e++)
                        out[(long long)(q0 + qb + i / group) * h * d +
                            (long long)(g * group + i % group) * d + e] =
                            f2h(acc[i * d + e] / l[i]);
            }
        }
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->n_heads / c->n_kv_heads > 64 ? "more than 64 query heads of a K/V head" : NULL;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return sizeof(float) * (size_t)c->head_dim *
           (size_t)(2 * BLOCK + BLOCK_Q * (c->n_heads / c->n_kv_heads));
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-blocks",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .layout = {.pages = CP_PAGES_OWN,
               .page_size = BLOCK,
               .order = CP_ORDER_NHD,
               .gaps = CP_GAPS_NONE,
               .tensors = CP_TENSORS_HALVES},
    .conventions = {.never = CP_NEVER_EMPTY_SEQUENCES | CP_NEVER_EMPTY_ROWS,
                    .invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = BLOCK},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
