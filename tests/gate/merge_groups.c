/* SPDX-License-Identifier: Apache-2.0 */
/* After Triton's stage 2 of split-KV decoding (SGLang, vLLM: _fwd_kernel_stage2) and
 * TensorRT-LLM's multi-block reduction: many splits, natural log-sum-exps, exp2((l - m) log2 e).
 * Groups of GROUP splits become states (m, n, acc) in the workspace, which are then merged; one
 * division. The accumulators are tiles of BLOCK_DV numbers; a mask cuts the last tile. Somebody
 * who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include <chunkproof/merge_kernel.h>

#include "page_numbers.h"

#define LN2      0.693147180559945309417F
#define GROUP    16
#define BLOCK_DV 64

static float exponential(float x) {
    return exp2f(x * LOG2E);
}

static int n_groups(int parts) {
    return (parts + GROUP - 1) / GROUP;
}

static size_t stride(const struct cp_merge_call *c) {
    return (size_t)c->head_dim + 2;
}

static size_t workspace(const struct cp_merge_call *c) {
    return sizeof(float) * (size_t)n_groups(c->n_parts) * ((size_t)c->head_dim + 2);
}

static int merge(const struct cp_merge_call *c) {
    const float *o = c->o, *l = c->l;
    uint16_t *out = c->out;
    float *lse = c->lse;
    const int d = c->head_dim;
    const int groups = n_groups(c->n_parts);

    for (int row = 0; row < c->n_rows; row++)
        for (int head = 0; head < c->n_heads; head++) {
            const float *of = o + row * c->o_row + head * c->o_head;
            const float *lf = l + row * c->l_row + head * c->l_head;
            for (int g = 0; g < groups; g++) {
                float *state = (float *)c->workspace + (size_t)g * stride(c), *acc = state + 2;
                const int end = g * GROUP + GROUP < c->n_parts ? g * GROUP + GROUP : c->n_parts;
                float m = -INFINITY, n = 0.0F;
                for (int i = 0; i < d; i++)
                    acc[i] = 0.0F;
                for (int p = g * GROUP; p < end; p++) {
                    const float split = lf[p * c->l_part];
                    if (split == -INFINITY)
                        continue;
                    const float max = fmaxf(m, split);
                    const float old = exponential(m - max), w = exponential(split - max);
                    const float *from = of + p * c->o_part;
                    for (int t = 0; t < d; t += BLOCK_DV)
                        for (int i = t; i < t + BLOCK_DV && i < d; i++) {
                            acc[i] = acc[i] * old + w * from[i];
                        }
                    n = n * old + w;
                    m = max;
                }
                state[0] = m;
                state[1] = n;
            }
            float m = -INFINITY, n = 0.0F;
            for (int g = 0; g < groups; g++)
                m = fmaxf(m, ((float *)c->workspace)[(size_t)g * stride(c)]);
            uint16_t *to = out + row * c->out_row + head * c->out_head;
            for (int g = 0; g < groups; g++) {
                const float *state = (float *)c->workspace + (size_t)g * stride(c);
                if (m > -INFINITY)
                    n += state[1] * exponential(state[0] - m);
            }
            for (int t = 0; t < d; t += BLOCK_DV) {
                for (int i = t; i < t + BLOCK_DV && i < d; i++) {
                    float sum = 0.0F;
                    for (int g = 0; g < groups; g++) {
                        const float *state = (float *)c->workspace + (size_t)g * stride(c);
                        if (state[0] > -INFINITY)
                            sum += state[2 + i] * exponential(state[0] - m);
                    }
                    to[i] = n == 0.0F ? 0 : f2h(sum / n);
                }
            }
            if (lse != NULL) {
                float *at = lse + row * c->lse_row + head * c->lse_head;
                *at = n == 0.0F ? -INFINITY : m + log2f(n) * LN2;
            }
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-groups",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .arithmetic = {.way = CP_MERGING_STATES,
                   .converts = CP_CONVERTS_DIFFERENCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-21,
                   .div_error = 0x1p-24},
    .workspace = workspace,
    .merge = merge,
};
