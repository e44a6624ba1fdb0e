/* SPDX-License-Identifier: Apache-2.0 */
/* After FlashInfer's MergeStates for rows with any number of states: v [part][head][d] and s
 * [part][head] in bits, by an indptr. States (m, d, o) are merged one after the other. bfloat16. */
#include <chunkproof/merge_kernel.h>

#include "page_numbers.h"

struct state_t {
    float m, d, o[MOST_D];
};

static void state_merge(struct state_t *st, const uint16_t *v, float s, int dim) {
    const float m_prev = st->m, d_prev = st->d;
    if (s == -INFINITY)
        return;
    st->m = m_prev > s ? m_prev : s;
    const float a = exp2f(m_prev - st->m), b = exp2f(s - st->m);
    st->d = d_prev * a + b;
    for (int i = 0; i < dim; i++)
        st->o[i] = st->o[i] * a + b2f(v[i]) * b;
}

static int merge(const struct cp_merge_call *c) {
    for (int r = 0; r < c->n_rows; r++)
        for (int h = 0; h < c->n_heads; h++) {
            struct state_t st = {.m = -INFINITY};
            for (int p = c->part_begin[r]; p < c->part_begin[r + 1]; p++)
                state_merge(&st, (const uint16_t *)c->o + p * c->o_part + h * c->o_head,
                            ((const float *)c->l)[p * c->l_part + h * c->l_head], c->head_dim);
            uint16_t *out = (uint16_t *)c->out + r * c->out_row + h * c->out_head;
            for (int i = 0; i < c->head_dim; i++)
                out[i] = f2b(st.d > 0 ? st.o[i] / st.d : 0);
            if (c->lse)
                ((float *)c->lse)[r * c->lse_row + h * c->lse_head] = st.m + log2f(st.d);
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "FlashInfer MergeStates, variable lengths",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .parts = CP_PARTS_BY_ROW,
    .layout = {.o = CP_O_ORDER_ROW_PART,
               .l = CP_L_ORDER_ROW_PART,
               .lse = CP_LSE_ORDER_ROW,
               .gaps = CP_GAPS_NONE},
    .arithmetic = {.way = CP_MERGING_STATES,
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
