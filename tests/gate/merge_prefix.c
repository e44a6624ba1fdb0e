/* SPDX-License-Identifier: Apache-2.0 */
/* After vLLM's csrc/attention/merge_attn_states.cu: two parts (prefix, suffix), natural
 * log-sum-exps [head][token], one "thread" for each pack of 8 numbers, blocks of 128 threads.
 * Somebody who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include <chunkproof/merge_kernel.h>

#include "page_numbers.h"

#define PACK    8
#define THREADS 128

static void thread(const struct cp_merge_call *c, long long id) {
    const uint16_t *o = c->o;
    const float *l = c->l;
    uint16_t *out = c->out;
    float *lse = c->lse;
    const long long packs = (c->head_dim + PACK - 1) / PACK;
    if (id >= (long long)c->n_rows * c->n_heads * packs)
        return;
    const int pack = (int)(id % packs);
    const int head = (int)(id / packs % c->n_heads);
    const long long token = id / packs / c->n_heads;

    const long long at = token * c->l_row + head * c->l_head;
    float p_lse = l[at], s_lse = l[c->l_part + at];
    const float max = fmaxf(p_lse, s_lse);

    const int first = pack * PACK;
    const int last = first + PACK < c->head_dim ? first + PACK : c->head_dim;
    uint16_t *to = out + token * c->out_row + head * c->out_head;
    if (max == -INFINITY) {
        for (int i = first; i < last; i++)
            to[i] = 0;
        if (lse != NULL && pack == 0)
            lse[token * c->lse_row + head * c->lse_head] = -INFINITY;
        return;
    }
    const uint16_t *p = o + token * c->o_row + head * c->o_head, *s = p + c->o_part;
    float p_se = expf(p_lse - max), s_se = expf(s_lse - max);
    float sum = p_se + s_se;
    float p_scale = p_se / sum, s_scale = s_se / sum;
    for (int i = first; i < last; i++)
        to[i] = f2b(b2f(p[i]) * p_scale + b2f(s[i]) * s_scale);
    if (lse != NULL && pack == 0) {
        lse[token * c->lse_row + head * c->lse_head] = logf(sum) + max;
    }
}

static int merge(const struct cp_merge_call *c) {
    const long long packs = (c->head_dim + PACK - 1) / PACK;
    const long long total = (long long)c->n_rows * c->n_heads * packs;
    const long long blocks = (total + THREADS - 1) / THREADS;
    for (long long b = 0; b < blocks; b++)
        for (int t = 0; t < THREADS; t++)
            thread(c, b * THREADS + t);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-prefix",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .least_parts = 2,
    .most_parts = 2,
    .layout = {.o = CP_O_ORDER_PART_ROW, .l = CP_L_ORDER_PART_HEAD, .lse = CP_LSE_ORDER_HEAD},
    .empty_o = CP_EMPTY_O_NUMBERS,
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merge,
};
