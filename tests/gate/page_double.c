/* SPDX-License-Identifier: Apache-2.0 */
/* Gather, then dense attention, all in binary64: the pages of a sequence are copied to one array
 * by the page table, and each row has one softmax. Any strides. Somebody who had seen the header
 * and the specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

static int attend(const struct cp_kernel_call *c) {
    const float *q = c->q, *k = c->k, *v = c->v;
    double *out = c->out, *lse = c->lse;
    const int d = c->head_dim, hk = c->n_kv_heads, per = c->n_heads / hk, P = c->page_size;
    const long long most = (long long)c->page_table_width * P;
    double *K = c->workspace, *V = K + most * hk * d, *x = V + most * hk * d;
    for (int s = 0; s < c->n_sequences; s++) {
        const int n = c->n_tokens[s];
        const int *table = c->page_table + (long long)s * c->page_table_width;
        const int fresh = 1;
        long long page = 0;
        for (int i = 0; fresh && i < cdiv(n, P); i++) {
            page = table[i];
            const int fill = imin(P, n - i * P);
            for (int t = 0; t < fill; t++)
                for (int g = 0; g < hk; g++)
                    for (int e = 0; e < d; e++)
                        K[(((long long)i * P + t) * hk + g) * d + e] =
                            (double)k[page * c->k_chunk + g * c->k_head + t * c->k_slot + e];
        }
        for (int i = 0; fresh && i < cdiv(n, P); i++) {
            page = table[i];
            for (int t = 0; t < imin(P, n - i * P); t++)
                for (int g = 0; g < hk; g++)
                    for (int e = 0; e < d; e++)
                        V[(((long long)i * P + t) * hk + g) * d + e] =
                            (double)v[page * c->v_chunk + g * c->v_head + t * c->v_slot + e];
        }
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int a = 0; a < c->n_heads; a++) {
                const int seen = c->position[r] + 1, g = a / per;
                double m = -INFINITY, sum = 0;
                for (int j = 0; j < seen; j++) {
                    double dot = 0;
                    for (int e = 0; e < d; e++)
                        dot += (double)q[r * c->q_row + a * c->q_head + e] *
                               K[((long long)j * hk + g) * d + e];
                    x[j] = dot * c->scale;
                    m = fmax(m, x[j]);
                }
                for (int j = 0; j < seen; j++)
                    x[j] = exp(x[j] - m), sum += x[j];
                for (int e = 0; e < d; e++) {
                    double o = 0;
                    for (int j = 0; j < seen; j++)
                        o += x[j] * V[((long long)j * hk + g) * d + e];
                    out[r * c->out_row + a * c->out_head + e] = seen > 0 ? o / sum : 0;
                }
                if (lse)
                    lse[r * c->lse_row + a * c->lse_head] = seen > 0 ? m + log(sum) : -INFINITY;
            }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *c) {
    const size_t most = (size_t)c->page_table_width * (size_t)c->page_size;
    return sizeof(double) * most * (2 * (size_t)c->n_kv_heads * (size_t)c->head_dim + 1);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-double",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP64,
    .lse_type = CP_FP64,
    .layout = {.pages = CP_PAGES_OWN},
    .conventions = {.invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP64,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP64,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-51,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
