/* SPDX-License-Identifier: Apache-2.0 */
/* A cap, ALiBi's bias and sinks (SCORE-1 to SCORE-3) over trees. Rows of a prompt take key by key.
 * A row that is alone in its sequence, as in decoding, stores all scores first. The sink comes
 * last. Somebody who had seen the header and the specification alone wrote it, with the kernels
 * that name it and the mistakes that tests/faults/ makes of them. */
#include "score_changes.h"

static float scaled_score(const struct cp_kernel_call *call, int s, int row, int head, int j) {
    long long k = k_at(call, chunk_of(call, s, j), head / group_size(call), j % call->chunk_size);
    return product(call, CP_FP16, q_at(call, row, head), k) * (float)call->scale;
}

static float capped_score(const struct cp_kernel_call *call, int s, int row, int head, int j) {
    return capped(scaled_score(call, s, row, head, j), (float)call->cap);
}

static long long value_at(const struct cp_kernel_call *call, int s, int head, int j) {
    return v_at(call, chunk_of(call, s, j), head / group_size(call), j % call->chunk_size);
}

/* One row of a prompt. */
static void prefill(const struct cp_kernel_call *call, int s, int row, int head,
                    struct state *state) {
    int p = call->position[row];
    for (int j = 0; j <= p; j++) {
        float x = capped_score(call, s, row, head, j);
        if (call->slopes != NULL) {
            x += call->slopes[head] * (float)(j - p);
        }
        add_key(call, CP_FP16, state, x, value_at(call, s, head, j));
    }
}

/* The one row of a sequence that decodes. */
static void decode(const struct cp_kernel_call *call, int s, int row, int head, struct state *state,
                   float *score) {
    int p = call->position[row];
    for (int j = 0; j <= p; j++) {
        score[j] = capped_score(call, s, row, head, j);
        if (call->slopes != NULL) {
            score[j] += call->slopes[head] * (float)(j - p);
        }
        state->m = fmaxf(state->m, score[j]);
    }
    for (int j = 0; j <= p; j++) {
        long long v = value_at(call, s, head, j);
        float weight = expf(score[j] - state->m);
        state->n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            state->o[i] += weight * load(call->v, CP_FP16, v + i);
        }
    }
}

static void add_sink(const struct cp_kernel_call *call, float sink, struct state *state) {
    float largest = fmaxf(state->m, sink), rescale = expf(state->m - largest);
    state->n = state->n * rescale + expf(sink - largest);
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] *= rescale;
    }
    state->m = largest;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    struct state state = {.o = call->workspace};
    int rows = call->query_begin[s + 1] - call->query_begin[s];
    clear(call, &state);
    if (rows == 1) {
        decode(call, s, row, head, &state, state.o + call->head_dim);
    } else {
        prefill(call, s, row, head, &state);
    }
    if (call->sinks != NULL) {
        add_sink(call, call->sinks[head], &state);
    }
    write_result(call, CP_FP16, row, head, &state);
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t most_keys = (size_t)call->table_width * (size_t)call->chunk_size;
    return ((size_t)call->head_dim + most_keys) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-rows",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .tanh_error = 0x1p-22,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
