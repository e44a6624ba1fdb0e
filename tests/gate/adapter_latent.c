/* SPDX-License-Identifier: Apache-2.0 */
/* After FlashMLA's flash_mla_with_kvcache: one latent K/V head, whose first d_v numbers are V,
 * blocks of 64 in a block table, several rows of a sequence. bfloat16, exponentials of base 2, a
 * natural log-sum-exp. A row without keys has +infinity. */
#include "page_numbers.h"

enum { PAGE_BLOCK_SIZE = 64, HEAD_DIM_K_MAX = 576, HEAD_DIM_V_MAX = 576 };

typedef struct {
    int b, h_q, d, d_v;
    float scale_softmax, scale_softmax_log2;
    const int *cu_seqlens_q, *cache_seqlens, *block_table;
    int64_t block_table_batch_stride;
    const uint16_t *q, *kv;
    uint16_t *o;
    float *softmax_lse;
    int64_t q_row_stride, q_head_stride, k_batch_stride, k_row_stride, o_row_stride, o_head_stride;
    int64_t lse_row_stride, lse_head_stride;
} Flash_fwd_mla_params;

static void mla_row(const Flash_fwd_mla_params *p, int seq, int64_t row, int head, int n_keys) {
    const uint16_t *q = p->q + row * p->q_row_stride + head * p->q_head_stride;
    const int *table = p->block_table + seq * p->block_table_batch_stride;
    float row_max = -INFINITY, row_sum = 0, o[HEAD_DIM_V_MAX] = {0};
    for (int block = 0; block * PAGE_BLOCK_SIZE < n_keys; block++) {
        const uint16_t *kv = p->kv + table[block] * p->k_batch_stride;
        const int n = n_keys - block * PAGE_BLOCK_SIZE < PAGE_BLOCK_SIZE
                          ? n_keys - block * PAGE_BLOCK_SIZE
                          : PAGE_BLOCK_SIZE;
        float s[PAGE_BLOCK_SIZE], m = row_max;
        for (int j = 0; j < n; j++) {
            float x = 0;
            for (int i = 0; i < p->d; i++)
                x += b2f(q[i]) * b2f(kv[j * p->k_row_stride + i]);
            s[j] = x;
            if (x > m)
                m = x;
        }
        const float correction = exp2f((row_max - m) * p->scale_softmax_log2);
        row_sum *= correction;
        for (int i = 0; i < p->d_v; i++)
            o[i] *= correction;
        row_max = m;
        for (int j = 0; j < n; j++) {
            const float e = exp2f(fmaf(s[j], p->scale_softmax_log2, -m * p->scale_softmax_log2));
            const float P = b2f(f2b(e));
            row_sum += e;
            const uint16_t *v = kv + j * p->k_row_stride;
            for (int i = 0; i < p->d_v; i++)
                o[i] += P * b2f(v[i]);
        }
    }
    uint16_t *out = p->o + row * p->o_row_stride + head * p->o_head_stride;
    for (int i = 0; i < p->d_v; i++)
        out[i] = f2b(row_sum > 0 ? o[i] / row_sum : 0);
    if (p->softmax_lse)
        p->softmax_lse[row * p->lse_row_stride + head * p->lse_head_stride] =
            row_sum > 0 ? row_max * p->scale_softmax + logf(row_sum) : INFINITY;
}

static const char *refuses(const struct cp_kernel_call *c) {
    if (c->n_kv_heads != 1)
        return "MLA has one K/V head";
    if (c->head_dim > HEAD_DIM_K_MAX)
        return "d is at most 576";
    return NULL;
}

static int attend(const struct cp_kernel_call *c) {
    const double scale = c->scale;
    const Flash_fwd_mla_params p = {.b = c->n_sequences,
                                    .h_q = c->n_heads,
                                    .d = c->head_dim,
                                    .d_v = c->value_dim,
                                    .scale_softmax = (float)scale,
                                    .scale_softmax_log2 = (float)(scale * 1.4426950408889634),
                                    .cu_seqlens_q = c->query_begin,
                                    .cache_seqlens = c->n_tokens,
                                    .block_table = c->page_table,
                                    .block_table_batch_stride = c->page_table_width,
                                    .q = c->q,
                                    .kv = c->k,
                                    .o = c->out,
                                    .softmax_lse = c->lse,
                                    .q_row_stride = c->q_row,
                                    .q_head_stride = c->q_head,
                                    .k_batch_stride = c->k_chunk,
                                    .k_row_stride = c->k_slot,
                                    .o_row_stride = c->out_row,
                                    .o_head_stride = c->out_head,
                                    .lse_row_stride = c->lse_row,
                                    .lse_head_stride = c->lse_head};
    for (int s = 0; s < p.b; s++) {
        const int s_q = p.cu_seqlens_q[s + 1] - p.cu_seqlens_q[s];
        for (int r = 0; r < s_q; r++)
            for (int h = 0; h < p.h_q; h++)
                mla_row(&p, s, p.cu_seqlens_q[s] + r, h, p.cache_seqlens[s] - s_q + r + 1);
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "FlashMLA decode",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .widths = CP_WIDTHS_ANY,
    .layout = {.pages = CP_PAGES_OWN,
               .page_size = PAGE_BLOCK_SIZE,
               .order = CP_ORDER_NHD,
               .tensors = CP_TENSORS_KEYS},
    .conventions = {.empty_lse = CP_EMPTY_VALUE, .empty_value = INFINITY},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = PAGE_BLOCK_SIZE},
    .refuses = refuses,
    .attend = attend,
};
