/* SPDX-License-Identifier: Apache-2.0 */
/* After FlashAttention's combine_attn_seqk_parallel: binary32 partial outputs [split][row][head][d]
 * and natural log-sum-exps [split][head][row]. A split's weight is exp(lse_i - lse), of the lse of
 * the result. Splits without keys have -infinity and zeros. A row without keys gets zeros and
 * +infinity. binary16 output. */
#include <chunkproof/merge_kernel.h>

#include "page_numbers.h"

#define MAX_SPLITS 256

static void combine_attn_seqk_parallel(int num_splits, int rows, int h, int d,
                                       const float *oaccum_ptr, const float *softmax_lseaccum_ptr,
                                       int64_t oaccum_split_stride, int64_t oaccum_row_stride,
                                       int64_t oaccum_head_stride, int64_t lseaccum_split_stride,
                                       int64_t lseaccum_row_stride, int64_t lseaccum_head_stride,
                                       uint16_t *o_ptr, int64_t o_row_stride, int64_t o_head_stride,
                                       float *lse_ptr, int64_t lse_row_stride,
                                       int64_t lse_head_stride) {
    for (int r = 0; r < rows; r++)
        for (int head = 0; head < h; head++) {
            float lse_scale[MAX_SPLITS], lse_max = -INFINITY, lse_sum = 0;
            for (int s = 0; s < num_splits; s++) {
                lse_scale[s] =
                    softmax_lseaccum_ptr[s * lseaccum_split_stride + r * lseaccum_row_stride +
                                         head * lseaccum_head_stride];
                if (lse_scale[s] > lse_max)
                    lse_max = lse_scale[s];
            }
            const float max = lse_max == -INFINITY ? 0 : lse_max;
            for (int s = 0; s < num_splits; s++)
                lse_sum += expf(lse_scale[s] - max);
            const float lse_logsum =
                lse_sum == 0 || lse_sum != lse_sum ? INFINITY : logf(lse_sum) + max;
            for (int s = 0; s < num_splits; s++)
                lse_scale[s] = expf(lse_scale[s] - lse_logsum);
            for (int i = 0; i < d; i++) {
                float o = 0;
                for (int s = 0; s < num_splits; s++)
                    o += lse_scale[s] * oaccum_ptr[s * oaccum_split_stride + r * oaccum_row_stride +
                                                   head * oaccum_head_stride + i];
                o_ptr[r * o_row_stride + head * o_head_stride + i] = f2h(o);
            }
            if (lse_ptr)
                lse_ptr[r * lse_row_stride + head * lse_head_stride] = lse_logsum;
        }
}

static int merge(const struct cp_merge_call *c) {
    combine_attn_seqk_parallel(c->n_parts, c->n_rows, c->n_heads, c->head_dim, c->o, c->l,
                               c->o_part, c->o_row, c->o_head, c->l_part, c->l_row, c->l_head,
                               c->out, c->out_row, c->out_head, c->lse, c->lse_row, c->lse_head);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "FlashAttention combine",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .most_parts = MAX_SPLITS,
    .layout = {.o = CP_O_ORDER_PART_ROW, .l = CP_L_ORDER_PART_HEAD, .lse = CP_LSE_ORDER_HEAD},
    .empty_lse = CP_EMPTY_VALUE,
    .empty_value = INFINITY,
    .empty_o = CP_EMPTY_O_NUMBERS,
    .arithmetic = {.way = CP_MERGING_UNDIVIDED,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merge,
};
