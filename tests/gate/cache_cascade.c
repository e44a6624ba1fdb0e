/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache of which V alone has 8 bits (CONV-10): integers with a scale for each token.
 * Shared runs come first, then own ones; each is divided by its sum, and merged by log-sum-exps
 * into the result so far. P is multiplied by the scale of V and rounded to binary16; the row sum is
 * of the weights before. By the author of cache_tiles.c. */
#include "cache_numbers.h"

/* The workspace: [c] scores, d numbers of a part, then of each row and head the log-sum-exp and o,
 * divided. */
static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    long long at = (long long)row * call->n_heads + head;
    return (float *)call->workspace + call->chunk_size + call->head_dim + at * (1 + call->head_dim);
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t d = (size_t)call->head_dim, states = (size_t)call->n_rows * (size_t)call->n_heads;
    return ((size_t)call->chunk_size + d + states * (1 + d)) * sizeof(float);
}

static float fill_scores(const struct cp_kernel_call *call, int chunk, int row, int head, int seen,
                         float *score) {
    float largest = -INFINITY;
    for (int slot = 0; slot < seen; slot++) {
        long long k = k_at(call, chunk, head / group_size(call), slot);
        score[slot] = product(call, CP_FP16, q_at(call, row, head), k) * (float)call->scale;
        largest = fmaxf(largest, score[slot]);
    }
    return largest;
}

/* A part with the log-sum-exp `lse` and the sum n joins a state. */
static void merge(const struct cp_kernel_call *call, float *state, float lse, float n,
                  const float *part) {
    float largest = fmaxf(state[0], lse), x = expf(state[0] - largest), y = expf(lse - largest);
    for (int i = 0; i < call->head_dim; i++) {
        state[1 + i] = (state[1 + i] * x + part[i] / n * y) / (x + y);
    }
    state[0] = largest + logf(x + y);
}

/* The first `seen` keys of a run, for one row and head. */
static void add_part(const struct cp_kernel_call *call, int chunk, int row, int head, int seen) {
    float *score = call->workspace, *part = score + call->chunk_size, n = 0.0F;
    float m = fill_scores(call, chunk, row, head, seen, score);
    int g = head / group_size(call);
    memset(part, 0, (size_t)call->head_dim * sizeof *part);
    for (int slot = 0; slot < seen; slot++) {
        const uint8_t *v = value_of(call, chunk, g, slot);
        float weight = expf(score[slot] - m);
        float v_scale = call->v_scales[scale_at(call, chunk, g, slot)];
        float p = rounded(weight * v_scale, CP_FP16);
        n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            part[i] += p * from_int8(v[i]);
        }
    }
    merge(call, state_of(call, row, head), m + logf(n), n, part);
}

static void add_run(const struct cp_kernel_call *call, int s, struct cp_run run) {
    for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
        int seen = seen_in_run(run, call->position[row]);
        for (int head = 0; seen > 0 && head < call->n_heads; head++) {
            add_part(call, run.chunk, row, head, seen);
        }
    }
}

static void start(const struct cp_kernel_call *call, int s, int row, int head) {
    float *state = state_of(call, row, head);
    (void)s;
    state[0] = -INFINITY;
    memset(state + 1, 0, (size_t)call->head_dim * sizeof *state);
}

static void finish(const struct cp_kernel_call *call, int s, int row, int head) {
    const float *state = state_of(call, row, head);
    (void)s;
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, state[1 + i]);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = state[0];
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, start);
    for (int i = 0; i < call->n_shared; i++) {
        for (int at = call->shared[i].begin; at < call->shared[i].end; at++) {
            add_run(call, call->served[at], shared_run(call, i));
        }
    }
    for (int s = 0; s < call->n_sequences; s++) {
        for (int k = call->n_shared_chunks[s]; k < n_runs_of(call, s); k++) {
            add_run(call, s, run_of(call, s, k));
        }
    }
    each_row(call, finish);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-cascade",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .cache = {.k = CP_CACHE_PLAIN, .v = CP_CACHE_INT8, .scales = CP_CACHE_SCALE_TOKEN},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .exp_error = EXPF_ERROR,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
