/* SPDX-License-Identifier: Apache-2.0 */
/* Unfinished states (m, n, s), one after the other, as a block of a cascade adds what other blocks
 * have left in memory: in binary32 and base e, divided at the end by a reciprocal. */
#include <math.h>

#include "merge_util.h"

struct state {
    float m, n;
    float *s; /* [head_dim] in the workspace */
};

static size_t workspace(const struct cp_merge_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

static void add_state(const struct cp_merge_call *call, struct state *to, int row, int part,
                      int head) {
    long long at = part_lse_at(call, row, part, head), from = part_at(call, row, part, head);
    float m = ((const float *)call->l)[at], n = ((const float *)call->n)[at];
    if (n == 0.0F) {
        return;
    }
    float larger = fmaxf(to->m, m), of_to = expf(to->m - larger), of_part = expf(m - larger);
    to->m = larger;
    to->n = to->n * of_to + n * of_part;
    for (int e = 0; e < call->head_dim; e++) {
        to->s[e] = to->s[e] * of_to + ((const float *)call->o)[from + e] * of_part;
    }
}

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    struct state state = {-INFINITY, 0.0F, call->workspace};
    for (int e = 0; e < call->head_dim; e++) {
        state.s[e] = 0.0F;
    }
    for (int part = 0; part < call->n_parts; part++) {
        add_state(call, &state, row, part, head);
    }
    float over = state.n > 0.0F ? 1.0F / state.n : 0.0F;
    for (int e = 0; e < call->head_dim; e++) {
        store(call->out, CP_FP32, result_at(call, row, head) + e, state.s[e] * over);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[result_lse_at(call, row, head)] =
            state.n > 0.0F ? state.m + logf(state.n) : -INFINITY;
    }
}

static int merge(const struct cp_merge_call *call) {
    each_merge(call, merge_row);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-running",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .form = CP_FORM_UNDIVIDED,
    .arithmetic = {.way = CP_MERGING_STATES,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP32,
                   .lse_type = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .log_error = LOGF_ERROR,
                   .div_error = 2.1 * DIVISION_ERROR},
    .workspace = workspace,
    .merge = merge,
};
