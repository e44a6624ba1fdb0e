/* SPDX-License-Identifier: Apache-2.0 */
/* After ring-flash-attention's _update_out_and_lse and context-parallel attention: results of the
 * ring's steps come one after the other into out and lse, in place. Binary32, natural
 * log-sum-exps [row][head] or [head][row]: by strides. Weights are those of sigmoid, relative to
 * the larger log-sum-exp of the two. Somebody who had seen the header and the specification alone
 * wrote it, with the mistakes that tests/faults/ makes of it. */
#include <chunkproof/merge_kernel.h>

#include "page_numbers.h"

#define TILE 32

/* One block (o, l) into (out, *lse). */
static void update(float *out, float *lse, const float *o, float l, int d) {
    if (l == -INFINITY)
        return;
    const float mine = *lse;
    const float max = fmaxf(mine, l);
    const float e = expf(mine - max), e2 = expf(l - max);
    const float n = e + e2, w = e / n, w2 = e2 / n;
    const float after = max + logf(n);
    for (int t = 0; t < d; t += TILE) {
        for (int i = t; i < d && i < t + TILE; i++) {
            out[i] = w * out[i] + w2 * o[i];
        }
    }
    *lse = after;
}

static int merge(const struct cp_merge_call *c) {
    const float *o = c->o, *l = c->l;
    float *out = c->out, *lse = c->lse;
    const int d = c->head_dim;
    for (long long row = 0; row < c->n_rows; row++)
        for (long long head = 0; head < c->n_heads; head++) {
            float *to = out + row * c->out_row + head * c->out_head;
            float *to_lse = lse + row * c->lse_row + head * c->lse_head;
            if (*to_lse == -INFINITY)
                for (int i = 0; i < d; i++)
                    to[i] = 0.0F;
            for (int p = 0; p < c->n_parts - 1; p++) {
                const float *block = o + p * c->o_part + row * c->o_row + head * c->o_head;
                update(to, to_lse, block, l[p * c->l_part + row * c->l_row + head * c->l_head], d);
            }
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-rotating",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .lse = CP_LSE_ALWAYS,
    .most_parts = 16,
    .in_place = 1,
    .arithmetic = {.way = CP_MERGING_PAIRWISE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP32,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merge,
};
