/* SPDX-License-Identifier: Apache-2.0 */
/* After FlashAttention-2's forward with a local window (window_size_left, window_size_right):
 * blocks of 64 rows and 64 keys, from the last block of keys to the first. The left window does not
 * count the row's own key; -1 is none. A row without keys has zeros and +infinity. */
#include "page_numbers.h"

enum { kBlockM = 64, kBlockN = 64, MAX_D = 512 };

typedef struct Flash_fwd_params {
    const uint16_t *q_ptr, *k_ptr, *v_ptr;
    uint16_t *o_ptr;
    float *softmax_lse_ptr;
    int64_t q_row_stride, q_head_stride, o_row_stride, o_head_stride;
    int64_t k_batch_stride, k_row_stride, k_head_stride; /* of a page */
    int64_t v_batch_stride, v_row_stride, v_head_stride;
    int64_t lse_row_stride, lse_head_stride;
    int b, h, h_k, d, page_block_size;
    const int *cu_seqlens_q, *seqused_k;
    const int *block_table;
    int64_t block_table_batch_stride;
    float scale_softmax, scale_softmax_log2;
    int window_size_left, window_size_right;
} Flash_fwd_params;

static int div_down(int a, int b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static void compute_attn_1rowblock(const Flash_fwd_params *p, int bidb, int bidh, int m_block) {
    const int sq = p->cu_seqlens_q[bidb + 1] - p->cu_seqlens_q[bidb], sk = p->seqused_k[bidb];
    const int *table = p->block_table + bidb * p->block_table_batch_stride;
    const int hk = bidh / (p->h / p->h_k);
    const int rows = sq - m_block * kBlockM < kBlockM ? sq - m_block * kBlockM : kBlockM;
    const int left = p->window_size_left, right = p->window_size_right;
    static _Thread_local float acc_o[kBlockM][MAX_D];
    float row_max[kBlockM], row_sum[kBlockM];
    for (int i = 0; i < kBlockM; i++)
        row_max[i] = -INFINITY, row_sum[i] = 0;
    memset(acc_o, 0, sizeof acc_o);

    int n_block_min = 0, n_block_max = (sk + kBlockN - 1) / kBlockN;
    if (left >= 0) {
        n_block_min = div_down(m_block * kBlockM + sk - sq - left, kBlockN);
        if (n_block_min < 0)
            n_block_min = 0;
    }
    const int end = div_down((m_block + 1) * kBlockM + sk - sq + right + kBlockN - 1, kBlockN);
    if (end < n_block_max)
        n_block_max = end;

    for (int n_block = n_block_max - 1; n_block >= n_block_min; n_block--)
        for (int i = 0; i < rows; i++) {
            const int row_idx = m_block * kBlockM + i + sk - sq;
            const int64_t r = p->cu_seqlens_q[bidb] + m_block * kBlockM + i;
            int lo = left >= 0 ? row_idx - left : 0;
            int hi = row_idx + right + 1; /* one behind */
            if (lo < 0)
                lo = 0;
            if (hi > sk)
                hi = sk;
            const uint16_t *Q = p->q_ptr + r * p->q_row_stride + bidh * p->q_head_stride;
            float s[kBlockN], m = row_max[i];
            for (int n = 0; n < kBlockN; n++) {
                const int t = n_block * kBlockN + n;
                s[n] = -INFINITY;
                if (t < lo || t >= hi)
                    continue;
                const uint16_t *K = p->k_ptr + table[t / p->page_block_size] * p->k_batch_stride +
                                    t % p->page_block_size * p->k_row_stride +
                                    hk * p->k_head_stride;
                float x = 0;
                for (int j = 0; j < p->d; j++)
                    x += h2f(Q[j]) * h2f(K[j]);
                s[n] = x;
                if (x > m)
                    m = x;
            }
            /* softmax_rescale_o */
            const float max_scaled = m == -INFINITY ? 0.0f : m * p->scale_softmax_log2;
            const float scores_scale = exp2f(
                row_max[i] == -INFINITY ? -INFINITY : (row_max[i] - m) * p->scale_softmax_log2);
            row_sum[i] *= scores_scale;
            for (int j = 0; j < p->d; j++)
                acc_o[i][j] *= scores_scale;
            row_max[i] = m;
            for (int n = 0; n < kBlockN; n++) {
                const int t = n_block * kBlockN + n;
                const float e = exp2f(fmaf(s[n], p->scale_softmax_log2, -max_scaled));
                row_sum[i] += e;
                if (t < lo || t >= hi)
                    continue;
                const uint16_t P = f2h(e);
                const uint16_t *V = p->v_ptr + table[t / p->page_block_size] * p->v_batch_stride +
                                    t % p->page_block_size * p->v_row_stride +
                                    hk * p->v_head_stride;
                for (int j = 0; j < p->d; j++)
                    acc_o[i][j] += h2f(P) * h2f(V[j]);
            }
        }

    for (int i = 0; i < rows; i++) {
        const int64_t r = p->cu_seqlens_q[bidb] + m_block * kBlockM + i;
        const float sum = row_sum[i];
        const int none = sum == 0.0f || sum != sum;
        const float inv_sum = none ? 1.0f : 1.0f / sum;
        uint16_t *O = p->o_ptr + r * p->o_row_stride + bidh * p->o_head_stride;
        for (int j = 0; j < p->d; j++)
            O[j] = f2h(acc_o[i][j] * inv_sum);
        if (p->softmax_lse_ptr)
            p->softmax_lse_ptr[r * p->lse_row_stride + bidh * p->lse_head_stride] =
                none ? INFINITY : row_max[i] * p->scale_softmax + logf(sum);
    }
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > MAX_D ? "d is at most 512" : NULL;
}

static int attend(const struct cp_kernel_call *c) {
    const Flash_fwd_params p = {.q_ptr = c->q,
                                .k_ptr = c->k,
                                .v_ptr = c->v,
                                .o_ptr = c->out,
                                .softmax_lse_ptr = c->lse,
                                .q_row_stride = c->q_row,
                                .q_head_stride = c->q_head,
                                .o_row_stride = c->out_row,
                                .o_head_stride = c->out_head,
                                .k_batch_stride = c->k_chunk,
                                .k_row_stride = c->k_slot,
                                .k_head_stride = c->k_head,
                                .v_batch_stride = c->v_chunk,
                                .v_row_stride = c->v_slot,
                                .v_head_stride = c->v_head,
                                .lse_row_stride = c->lse_row,
                                .lse_head_stride = c->lse_head,
                                .b = c->n_sequences,
                                .h = c->n_heads,
                                .h_k = c->n_kv_heads,
                                .d = c->head_dim,
                                .page_block_size = c->chunk_size,
                                .cu_seqlens_q = c->query_begin,
                                .seqused_k = c->n_tokens,
                                .block_table = c->table,
                                .block_table_batch_stride = c->table_width,
                                .scale_softmax = (float)c->scale,
                                .scale_softmax_log2 = (float)(c->scale * 1.4426950408889634),
                                .window_size_left = c->window,
                                .window_size_right = c->ahead};
    for (int b = 0; b < p.b; b++)
        for (int h = 0; h < p.h; h++)
            for (int m = 0; m * kBlockM < p.cu_seqlens_q[b + 1] - p.cu_seqlens_q[b]; m++)
                compute_attn_1rowblock(&p, b, h, m);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "FA2 forward, local",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD,
    .conventions = {.empty_lse = CP_EMPTY_VALUE,
                    .empty_value = INFINITY,
                    .window = CP_WINDOW_BEFORE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .step = kBlockN},
    .refuses = refuses,
    .attend = attend,
};
