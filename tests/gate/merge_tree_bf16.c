/* SPDX-License-Identifier: Apache-2.0 */
/* A tree: results are merged two at a time on ceil(log2 P) levels, as an all-reduce by recursive
 * halving does with results of bfloat16 (PyTorch, MPI). Between merges o is bfloat16 and l
 * binary32. The two buffers of a level are in the workspace. Somebody who had seen the header and
 * the specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include <chunkproof/merge_kernel.h>

#include "page_numbers.h"

#define MOST 64

static size_t level(const struct cp_merge_call *c) {
    const size_t nodes = ((size_t)c->n_parts + 1) / 2;
    return nodes * (size_t)c->head_dim;
}

static size_t workspace(const struct cp_merge_call *c) {
    return 2 * level(c) * sizeof(uint16_t);
}

/* (o, *l) = (a, la) and (b, lb) merged. o may be a. */
static void pair(uint16_t *o, float *l, const uint16_t *a, float la, const uint16_t *b, float lb,
                 int d) {
    if (la == -INFINITY && lb == -INFINITY) {
        for (int i = 0; i < d; i++)
            o[i] = 0;
        *l = -INFINITY;
        return;
    }
    const float max = fmaxf(la, lb);
    const float ea = expf(la - max), eb = expf(lb - max), n = ea + eb;
    const float wa = ea / n, wb = eb / n;
    for (int i = 0; i < d; i++) {
        const float x = ea == 0.0F ? 0.0F : wa * b2f(a[i]);
        const float y = eb == 0.0F ? 0.0F : wb * b2f(b[i]);
        o[i] = f2b(x + y);
    }
    *l = max + logf(n);
}

static int merge(const struct cp_merge_call *c) {
    const uint16_t *o = c->o;
    const float *l = c->l;
    uint16_t *out = c->out;
    float *lse = c->lse;
    const int d = c->head_dim;
    uint16_t *buffer[2] = {c->workspace, (uint16_t *)c->workspace + level(c)};
    float at[2][MOST];

    for (long long row = 0; row < c->n_rows; row++)
        for (long long head = 0; head < c->n_heads; head++) {
            int nodes = c->n_parts, k = 0;
            const uint16_t *leaf = o + row * c->o_row + head * c->o_head;
            long long step = c->o_part;
            float *mine = at[0];
            for (int p = 0; p < nodes; p++)
                mine[p] = l[p * c->l_part + row * c->l_row + head * c->l_head];
            uint16_t *to = out + row * c->out_row + head * c->out_head;
            while (nodes > 1) {
                const int half = nodes / 2, odd = nodes & 1;
                uint16_t *next = buffer[k];
                float *its = at[1 - k];
                for (int i = 0; i < half; i++) {
                    pair(next + (size_t)i * (size_t)d, &its[i], leaf + 2 * i * step, mine[2 * i],
                         leaf + (2 * i + 1) * step, mine[2 * i + 1], d);
                }
                if (odd) {
                    memcpy(next + (size_t)half * (size_t)d, leaf + (nodes - 1) * step,
                           (size_t)d * sizeof *next);
                    its[half] = mine[nodes - 1];
                }
                nodes = half + odd;
                leaf = next;
                step = d;
                mine = its;
                k = 1 - k;
            }
            for (int i = 0; i < d; i++)
                to[i] = mine[0] == -INFINITY ? 0 : leaf[i];
            if (lse != NULL)
                lse[row * c->lse_row + head * c->lse_head] = mine[0];
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-tree-bf16",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .most_parts = MOST,
    .arithmetic = {.way = CP_MERGING_PAIRWISE,
                   .tree = CP_MERGING_BALANCED,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_BF16,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .workspace = workspace,
    .merge = merge,
};
