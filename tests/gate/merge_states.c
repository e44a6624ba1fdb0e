/* SPDX-License-Identifier: Apache-2.0 */
/* Any number of states, another one in each row, as FlashInfer's merge of variable lengths does it:
 * a running state (m, d, o) takes one part after the other, in binary32 and base 2, and is divided
 * at the end. */
#include <math.h>

#include "merge_util.h"

struct state {
    float m, d;
    float *o; /* [head_dim] in the workspace */
};

static size_t workspace(const struct cp_merge_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

static void add_part(const struct cp_merge_call *call, struct state *state, long long o, float s) {
    float m_prev = state->m, d_prev = state->d;
    if (s == -INFINITY) {
        return;
    }
    state->m = fmaxf(m_prev, s);
    float of_state = exp2f(m_prev - state->m), of_part = exp2f(s - state->m);
    state->d = d_prev * of_state + of_part;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] = state->o[i] * of_state + load(call->o, CP_FP16, o + i) * of_part;
    }
}

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    struct state state = {-INFINITY, 0.0F, call->workspace};
    for (int i = 0; i < call->head_dim; i++) {
        state.o[i] = 0.0F;
    }
    for (int part = 0; part < parts_in(call, row); part++) {
        add_part(call, &state, part_at(call, row, part, head),
                 ((const float *)call->l)[part_lse_at(call, row, part, head)]);
    }
    float over = state.d > 0.0F ? 1.0F / state.d : 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, result_at(call, row, head) + i, state.o[i] * over);
    }
    if (call->lse != NULL) {
        float lse = state.d > 0.0F ? state.m + log2f(state.d) : -INFINITY;
        ((float *)call->lse)[result_lse_at(call, row, head)] = lse;
    }
}

static int merge(const struct cp_merge_call *call) {
    each_merge(call, merge_row);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-states",
    .o_type = CP_FP16,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .parts = CP_PARTS_BY_ROW,
    .arithmetic = {.way = CP_MERGING_STATES,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .log_error = LOGF_ERROR,
                   .div_error = 0x1p-22}, /* 1 / d, and a product */
    .workspace = workspace,
    .merge = merge,
};
