/* SPDX-License-Identifier: Apache-2.0 */
/* Two phases over a cache of modules that merge at once (RUNS-5, TPP-4), in bfloat16. A descriptor
 * serves a range of sequences (RUNS-9), and takes the rows of all of them as one block. */
#include <math.h>

#include "kernel_util.h"

/* The workspace, floats: a state m, n, o[d] for each query row and head, then the scores of a run,
 * [c]. */
static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    long long number = (long long)row * call->n_heads + head;
    return (float *)call->workspace + number * (2 + call->head_dim);
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t n_states = (size_t)call->n_rows * (size_t)call->n_heads;
    return (n_states * (size_t)(2 + call->head_dim) + (size_t)call->chunk_size) * sizeof(float);
}

/* The scores of the first n_keys keys of a chunk; returns the largest, or m if that is larger. */
static float score_keys(const struct cp_kernel_call *call, long long q, int chunk, int kv_head,
                        int n_keys, float m, float *score) {
    for (int j = 0; j < n_keys; j++) {
        long long k = k_at(call, chunk, kv_head, j);
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += load(call->q, CP_BF16, q + i) * load(call->k, CP_BF16, k + i);
        }
        score[j] = dot * (float)call->scale;
        m = fmaxf(m, score[j]);
    }
    return m;
}

/* n_keys >= 1 keys of a run into the state of a query row and head. */
static void merge_keys(const struct cp_kernel_call *call, struct cp_run run, int n_keys, int row,
                       int kv_head, int head) {
    float *state = state_of(call, row, head), *score = state_of(call, call->n_rows, 0);
    long long q = q_at(call, row, head);
    float m = score_keys(call, q, run.chunk, kv_head, n_keys, state[0], score);
    float rescale = expf(state[0] - m);
    state[0] = m;
    for (int i = 1; i < 2 + call->head_dim; i++) { /* n, then o */
        state[i] *= rescale;
    }
    for (int j = 0; j < n_keys; j++) {
        long long v = v_at(call, run.chunk, kv_head, j);
        float weight = expf(score[j] - m);
        state[1] += weight;
        for (int i = 0; i < call->head_dim; i++) {
            state[2 + i] += weight * load(call->v, CP_BF16, v + i);
        }
    }
}

/* The rows row_begin .. row_end - 1, with all heads, over a run. */
static void merge_run(const struct cp_kernel_call *call, struct cp_run run, int row_begin,
                      int row_end) {
    int group = group_size(call);
    for (int kv_head = 0; kv_head < call->n_kv_heads; kv_head++) {
        for (int row = row_begin; row < row_end; row++) {
            int n_keys = seen_in_run(run, call->position[row]);
            for (int g = 0; g < group && n_keys > 0; g++) {
                merge_keys(call, run, n_keys, row, kv_head, kv_head * group + g);
            }
        }
    }
}

static void begin(const struct cp_kernel_call *call, int row, int head) {
    float *state = state_of(call, row, head);
    state[0] = -INFINITY;
    for (int i = 1; i < 2 + call->head_dim; i++) {
        state[i] = 0.0F;
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head) {
    const float *state = state_of(call, row, head), *o = state + 2;
    float n = state[1];
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_BF16, out_at(call, row, head) + i, n > 0.0F ? o[i] / n : 0.0F);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n > 0.0F ? state[0] + logf(n) : -INFINITY;
    }
}

static void each_state(const struct cp_kernel_call *call,
                       void (*use)(const struct cp_kernel_call *call, int row, int head)) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            use(call, row, head);
        }
    }
}

static int attend(const struct cp_kernel_call *call) {
    const int *rows = call->query_begin;
    each_state(call, begin);
    for (int x = 0; x < call->n_shared; x++) {
        const struct cp_shared_chunk *shared = &call->shared[x];
        merge_run(call, shared_run(call, x), rows[shared->begin], rows[shared->end]);
    }
    for (int s = 0; s < call->n_sequences; s++) {
        int n_runs = n_runs_of(call, s);
        for (int r = call->n_shared_chunks[s]; r < n_runs; r++) {
            merge_run(call, run_of(call, s, r), rows[s], rows[s + 1]);
        }
    }
    each_state(call, finish);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "modules-merged",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_RANGES,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
