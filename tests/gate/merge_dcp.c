/* SPDX-License-Identifier: Apache-2.0 */
/* After vLLM's decode context parallelism (cp_lse_ag_out_rs): all ranks' log-sum-exps are
 * gathered, each rank multiplies its output by 2^(l_rank - l) of the final l and keeps it in
 * bfloat16, and a reduce-scatter in bfloat16 over heads adds the ranks' outputs. Up to 16 ranks,
 * bits. Somebody who had seen the header and the specification alone wrote it, with the mistakes
 * that tests/faults/ makes of it. */
#include <chunkproof/merge_kernel.h>

#include "page_numbers.h"

#define MOST 16

/* Exact in binary64, and rounded once. */
static uint16_t product(float w, uint16_t x) {
    return cp_bf16_from_double((double)w * cp_bf16_to_double(x));
}

/* lses[rank][row][head] without gaps, final[row][head], corrected[rank][head_dim] */
static size_t workspace(const struct cp_merge_call *c) {
    const size_t rows = (size_t)c->n_rows * (size_t)c->n_heads;
    return sizeof(float) * rows * ((size_t)c->n_parts + 1) +
           sizeof(uint16_t) * (size_t)c->n_parts * (size_t)c->head_dim;
}

static int merge(const struct cp_merge_call *c) {
    const uint16_t *o = c->o;
    const float *l = c->l;
    uint16_t *out = c->out;
    float *lse = c->lse;
    const int d = c->head_dim, ranks = c->n_parts;
    const long long heads = c->n_heads, rows = c->n_rows * heads;
    float *lses = c->workspace, *final = lses + rows * ranks;
    uint16_t *corrected = (void *)(final + rows);

    /* All-gather */
    for (int p = 0; p < ranks; p++)
        for (long long r = 0; r < c->n_rows; r++)
            for (long long a = 0; a < heads; a++) {
                float *to = lses + p * rows + r * heads + a;
                *to = l[p * c->l_part + r * c->l_row + a * c->l_head];
            }

    for (long long k = 0; k < rows; k++) {
        float max = -INFINITY, sum = 0.0F;
        for (int p = 0; p < ranks; p++)
            max = fmaxf(max, lses[p * rows + k]);
        if (max == -INFINITY)
            max = 0.0F;
        for (int p = 0; p < ranks; p++)
            sum += exp2f(lses[p * rows + k] - max);
        final[k] = log2f(sum) + max;
    }

    for (long long r = 0; r < c->n_rows; r++)
        for (long long a = 0; a < heads; a++) {
            const long long k = r * heads + a;
            for (int p = 0; p < ranks; p++) {
                const uint16_t *from = o + p * c->o_part + r * c->o_row + a * c->o_head;
                const float mine = lses[p * rows + k];
                const float all = final[k];
                const int none = mine == -INFINITY;
                const float w = none ? 0.0F : exp2f(mine - all);
                for (int i = 0; i < d; i++)
                    corrected[p * d + i] = none ? 0 : product(w, from[i]);
            }
            uint16_t *to = out + r * c->out_row + a * c->out_head;
            for (int i = 0; i < d; i++) {
                uint16_t sum = corrected[i];
                for (int p = 1; p < ranks; p++)
                    sum = f2b(b2f(sum) + b2f(corrected[p * d + i]));
                to[i] = sum;
            }
            if (lse != NULL)
                lse[r * c->lse_row + a * c->lse_head] = final[k];
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-dcp",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .most_parts = MOST,
    .layout = {.l = CP_L_ORDER_PART_ROW},
    .arithmetic = {.way = CP_MERGING_UNDIVIDED,
                   .weights = CP_FP32,
                   .values = CP_BF16,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22},
    .workspace = workspace,
    .merge = merge,
};
