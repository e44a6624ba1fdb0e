/* SPDX-License-Identifier: Apache-2.0 */
/* As FlashAttention's varlen forward with a block table: cu_seqlens_q, seqused_k, block_table,
 * pages of any size; tiles of 64 keys that begin at multiples of 64, whatever the pages are. Rows
 * that see nothing have the log-sum-exp +infinity, as there. Weights are powers of two. Somebody
 * who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"
enum { N = 64, M = 8 };

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *k = c->k, *v = c->v, *q = c->q;
    uint16_t *out = c->out;
    float *lse = c->lse;
    const int d = c->head_dim, group = c->n_heads / c->n_kv_heads;
    const int P = c->page_size;
    const float scale_log2 = (float)(c->scale * 1.4426950408889634);
    float *sk = c->workspace, *sv = sk + N * d, *acc = sv + N * d;
    for (int s = 0; s < c->n_sequences; s++) {
        const int n = c->n_tokens[s], first = c->query_begin[s],
                  rows = c->query_begin[s + 1] - first;
        const int *table = c->page_table + (long long)s * c->page_table_width;
        for (int a = 0; a < c->n_heads; a++)
            for (int m0 = 0; m0 < rows; m0 += M) {
                const int g = a / group, nr = imin(M, rows - m0);
                float mx[M], sum[M];
                for (int i = 0; i < M; i++)
                    mx[i] = -INFINITY, sum[i] = 0;
                memset(acc, 0, sizeof(float) * (size_t)(M * d));
                const int end =
                    imin(n, n - rows + m0 + nr); /* keys that the last row of the tile sees */
                const int tiles = end <= 0 ? 0 : cdiv(end, N);
                for (int t = 0; t < tiles; t++) {
                    const int j0 = t * N, valid = imin(N, n - j0);
                    int page = j0 / P, slot = j0 % P;
                    for (int j = 0; j < N; j++) {
                        if (j < valid) {
                            const long long pg = table[page], sl = slot;
                            const uint16_t *kr =
                                k + pg * c->k_chunk + sl * c->k_slot + g * c->k_head;
                            const uint16_t *vr =
                                v + pg * c->v_chunk + sl * c->v_slot + g * c->v_head;
                            for (int e = 0; e < d; e++)
                                sk[j * d + e] = h2f(kr[e]), sv[j * d + e] = h2f(vr[e]);
                            if (++slot == P)
                                slot = 0, page++;
                            (void)page;
                        } else {
                            for (int e = 0; e < d; e++)
                                sk[j * d + e] = sv[j * d + e] = 0;
                        }
                    }
                    for (int i = 0; i < nr; i++) {
                        const uint16_t *qr = q + (first + m0 + i) * c->q_row + a * c->q_head;
                        const int limit = n - rows + m0 + i; /* its position */
                        float x[N], m = mx[i];
                        for (int j = 0; j < N; j++) {
                            x[j] = -INFINITY;
                            if (j0 + j > limit)
                                continue;
                            float dot = 0;
                            for (int e = 0; e < d; e++)
                                dot += h2f(qr[e]) * sk[j * d + e];
                            x[j] = dot * scale_log2;
                            m = fmaxf(m, x[j]);
                        }
                        if (m == -INFINITY)
                            continue;
                        const float f = exp2f(mx[i] - m);
                        mx[i] = m;
                        sum[i] *= f;
                        for (int e = 0; e < d; e++)
                            acc[i * d + e] *= f;
                        for (int j = 0; j < N; j++) {
                            const float p = exp2f(x[j] - m), p16 = h2f(f2h(p));
                            sum[i] += p;
                            for (int e = 0; e < d; e++)
                                acc[i * d + e] += p16 * sv[j * d + e];
                        }
                    }
                }
                for (int i = 0; i < nr; i++) {
                    const int r = first + m0 + i, none = sum[i] == 0;
                    const float inv = none ? 1 : 1 / sum[i];
                    for (int e = 0; e < d; e++)
                        out[r * c->out_row + a * c->out_head + e] = f2h(acc[i * d + e] * inv);
                    if (lse)
                        lse[r * c->lse_row + a * c->lse_head] =
                            none ? INFINITY : mx[i] * 0.693147180559945f + logf(sum[i]);
                }
            }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return sizeof(float) * (size_t)c->head_dim * (2 * N + M);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-tiles",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .layout = {.pages = CP_PAGES_OWN, .order = CP_ORDER_NHD},
    .conventions = {.empty_lse = CP_EMPTY_VALUE,
                    .empty_value = INFINITY,
                    .invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .step = N},
    .workspace = workspace,
    .attend = attend,
};
