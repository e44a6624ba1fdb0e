/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the list of runs of a sequence (RUNS-1), as a cache of modules has them: each chunk says
 * how many keys it holds and where they stand. The kernel uses no length, no order and no
 * descriptor, so that chunks may be partial anywhere, and positions may have gaps. The runs are
 * weighed one after the other. */
#include <math.h>

#include "kernel_util.h"

/* The workspace, floats: the state m, n, o[d] of a query row and head, and the scores of a run. */
static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)(2 + call->head_dim + call->chunk_size) * sizeof(float);
}

/* RUNS-4: how many of a run's keys a row at position p sees. */
static int seen_of(struct cp_run run, int p) {
    int before = p - run.position; /* of these keys before p */
    return p < run.position ? 0 : before < run.n_tokens ? before + 1 : run.n_tokens;
}

/* The scores of the first n keys of a chunk; returns the largest, or m if that is larger. */
static float score_keys(const struct cp_kernel_call *call, long long q, int chunk, int kv_head,
                        int n, float m, float *score) {
    for (int t = 0; t < n; t++) {
        long long k = k_at(call, chunk, kv_head, t);
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
        }
        score[t] = (float)call->scale * dot;
        m = fmaxf(m, score[t]);
    }
    return m;
}

/* Before the first key m is -infinity, and what is there so far, nothing, gets the factor 0. */
static void add_run(const struct cp_kernel_call *call, struct cp_run run, int row, int head) {
    float *state = call->workspace, *o = state + 2, *score = o + call->head_dim;
    int kv_head = head / group_size(call), n = seen_of(run, call->position[row]);
    if (n == 0) {
        return;
    }
    float m = score_keys(call, q_at(call, row, head), run.chunk, kv_head, n, state[0], score);
    float factor = expf(state[0] - m);
    state[0] = m;
    for (int i = 1; i < 2 + call->head_dim; i++) { /* n, then o */
        state[i] *= factor;
    }
    for (int t = 0; t < n; t++) {
        long long v = v_at(call, run.chunk, kv_head, t);
        float weight = expf(score[t] - m);
        state[1] += weight;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] += weight * load(call->v, CP_FP16, v + i);
        }
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head) {
    const float *state = call->workspace, *o = state + 2;
    float n = state[1];
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, n != 0.0F ? o[i] / n : 0.0F);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n != 0.0F ? state[0] + logf(n) : -INFINITY;
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    float *state = call->workspace;
    state[0] = -INFINITY;
    for (int i = 1; i < 2 + call->head_dim; i++) {
        state[i] = 0.0F;
    }
    for (int k = 0; k < call->table_width && run_of(call, s, k).n_tokens > 0; k++) {
        add_run(call, run_of(call, s, k), row, head);
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
    .name = "lists",
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
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
