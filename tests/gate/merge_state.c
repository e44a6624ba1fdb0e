/* SPDX-License-Identifier: Apache-2.0 */
/* After FlashInfer's MergeState: two parts, bits, binary16, everything [row][head][d] without
 * gaps; a block for each row, bdy heads at a time, vectors of 8 numbers. Somebody who had seen
 * the header and the specification alone wrote it, with the mistakes that tests/faults/ makes of
 * it. */
#include <chunkproof/merge_kernel.h>

#include "page_numbers.h"

#define VEC 8

static int merge(const struct cp_merge_call *c) {
    const uint16_t *v_a = c->o, *v_b = v_a + c->o_part;
    const float *s_a = c->l, *s_b = s_a + c->l_part;
    uint16_t *v = c->out;
    float *s = c->lse;
    const int heads = c->n_heads, d = c->head_dim;

    for (long long row = 0; row < c->n_rows; row++)
        for (int head = 0; head < heads; head++) {
            const long long here = row * heads + head;
            float a = s_a[here], b = s_b[here];
            float max = fmaxf(a, b);
            if (fmaxf(a, b) == -INFINITY) {
                for (int i = 0; i < d; i++)
                    v[here * d + i] = 0;
                if (s != NULL)
                    s[here] = -INFINITY;
                continue;
            }
            const float e_a = exp2f(a - max), e_b = exp2f(b - max), sum = e_a + e_b;
            float w_a = e_a / sum, w_b = e_b / sum;
            for (int i = 0; i < d; i += VEC)
                for (int j = i; j < i + VEC && j < d; j++) {
                    const long long n = here * d + j;
                    const float x = e_a == 0.0F ? 0.0F : w_a * h2f(v_a[n]);
                    const float y = e_b == 0.0F ? 0.0F : w_b * h2f(v_b[n]);
                    v[n] = f2h(x + y);
                }
            if (s != NULL) {
                s[here] = log2f(sum) + max;
            }
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-state",
    .o_type = CP_FP16,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .least_parts = 2,
    .most_parts = 2,
    .layout = {.o = CP_O_ORDER_PART_ROW,
               .l = CP_L_ORDER_PART_ROW,
               .lse = CP_LSE_ORDER_ROW,
               .gaps = CP_GAPS_NONE},
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
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
