/* SPDX-License-Identifier: Apache-2.0 */
/* After FlashAttention-2's combine_attn_seqk_parallel: up to 256 splits, binary32 partial results
 * [split][row][head][d], log-sum-exps [split][head][row], bfloat16 output. Blocks of BLOCK_M rows
 * (of all heads together); scales exp(l_i - lse) in "shared memory"; nothing is divided. A row
 * without keys gets zeros and, as there, +infinity. Somebody who had seen the header and the
 * specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include <chunkproof/merge_kernel.h>

#include "page_numbers.h"

#define BLOCK_M 8
#define MOST    256

static size_t workspace(const struct cp_merge_call *c) {
    return sizeof(float) * (size_t)c->n_parts * BLOCK_M;
}

static void block(const struct cp_merge_call *c, long long first) {
    const float *o = c->o, *l = c->l;
    uint16_t *out = c->out;
    float *lse = c->lse;
    float *scale = c->workspace; /* [split][BLOCK_M] */
    const long long rows = (long long)c->n_heads * c->n_rows;
    const int splits = c->n_parts;

    for (int k = 0; k < BLOCK_M && first + k < rows; k++) {
        const long long head = (first + k) / c->n_rows, row = (first + k) % c->n_rows;
        const long long at = head * c->l_head + row * c->l_row;
        float max = -INFINITY;
        for (int s = 0; s < splits; s++)
            max = fmaxf(max, l[s * c->l_part + at]);
        if (max == -INFINITY)
            max = 0.0F;
        float sum = 0.0F;
        for (int s = 0; s < splits; s++)
            sum += expf(l[s * c->l_part + at] - max);
        const int none = sum == 0.0F;
        float all = none ? INFINITY : logf(sum) + max;
        for (int s = 0; s < splits; s++) {
            scale[s * BLOCK_M + k] = expf(l[s * c->l_part + at] - all);
        }
        if (lse != NULL)
            lse[row * c->lse_row + head * c->lse_head] = all;
    }
    for (int k = 0; k < BLOCK_M && first + k < rows; k++) {
        const long long head = (first + k) / c->n_rows, row = (first + k) % c->n_rows;
        uint16_t *to = out + row * c->out_row + head * c->out_head;
        const int d = c->head_dim;
        for (int i = 0; i < d; i++) {
            float sum = 0.0F;
            for (int s = 0; s < splits; s++) {
                const float w = scale[s * BLOCK_M + k];
                const float *from = o + s * c->o_part + row * c->o_row + head * c->o_head;
                if (w > 0.0F)
                    sum += w * from[i];
            }
            to[i] = f2b(sum);
        }
    }
}

static int merge(const struct cp_merge_call *c) {
    const long long rows = (long long)c->n_heads * c->n_rows;
    const long long blocks = (rows + BLOCK_M - 1) / BLOCK_M;
    for (long long b = 0; b < blocks; b++)
        block(c, b * BLOCK_M);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-combine",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .most_parts = MOST,
    .layout = {.o = CP_O_ORDER_PART_ROW, .l = CP_L_ORDER_PART_HEAD, .lse = CP_LSE_ORDER_HEAD},
    .empty_lse = CP_EMPTY_VALUE,
    .empty_value = INFINITY,
    .arithmetic = {.way = CP_MERGING_UNDIVIDED,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22},
    .workspace = workspace,
    .merge = merge,
};
