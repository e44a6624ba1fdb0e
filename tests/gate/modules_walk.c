/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the table of each sequence run by run and key by key: paged decoding over a cache of
 * modules (RUNS-3). It uses no descriptor and no length, and the maximum may change at each key. */
#include <math.h>

#include "kernel_util.h"

/* The workspace, floats: the state m, n, o[d] of a query row and head. */
static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)(2 + call->head_dim) * sizeof(float);
}

/* The key at k with the value at v, into the state of the query row and head at q. Before the first
 * key m is -infinity, and what is there so far, nothing, gets the factor 0. */
static void add_key(const struct cp_kernel_call *call, long long q, long long k, long long v) {
    float *state = call->workspace, *o = state + 2, dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    float score = dot * (float)call->scale;
    if (score > state[0]) {
        float rescale = expf(state[0] - score);
        state[0] = score;
        for (int i = 1; i < 2 + call->head_dim; i++) { /* n, then o */
            state[i] *= rescale;
        }
    }
    float weight = expf(score - state[0]);
    state[1] += weight;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] += weight * load(call->v, CP_FP16, v + i);
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head) {
    const float *state = call->workspace, *o = state + 2;
    float n = state[1];
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, n > 0.0F ? o[i] / n : 0.0F);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n > 0.0F ? state[0] + logf(n) : -INFINITY;
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    float *state = call->workspace;
    int kv_head = head / group_size(call), n_runs = n_runs_of(call, s);
    int p = call->position[row];
    state[0] = -INFINITY;
    for (int i = 1; i < 2 + call->head_dim; i++) {
        state[i] = 0.0F;
    }
    for (int r = 0; r < n_runs; r++) {
        struct cp_run run = run_of(call, s, r);
        int n_keys = seen_in_run(run, p);
        for (int j = 0; j < n_keys; j++) {
            add_key(call, q_at(call, row, head), k_at(call, run.chunk, kv_head, j),
                    v_at(call, run.chunk, kv_head, j));
        }
    }
    finish(call, row, head);
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                attend_row(call, s, row, head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "modules-walk",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
