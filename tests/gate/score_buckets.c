/* SPDX-License-Identifier: Apache-2.0 */
/* A table of biases by distance (SCORE-5) in two phases, with keys ahead: descriptors for all that
 * they serve, then the sequences' own runs. A run has a line of biases for each row and head, which
 * is one number where all its keys are beyond the table. The bias is capped, too (CONV-7), and the
 * sink is merged last. */
#include "score_changes.h"

static size_t state_size(const struct cp_kernel_call *call) {
    return 2 + (size_t)call->head_dim;
}

/* The state of a row and head: m, n, and d numbers o. */
static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    size_t at = (size_t)row * (size_t)call->n_heads + (size_t)head;
    return (float *)call->workspace + at * state_size(call);
}

/* Merges (m, n, o) into a state; o may be NULL, which is zeros. */
static void merge(const struct cp_kernel_call *call, float *state, float m, float n,
                  const float *o) {
    float largest = fmaxf(state[0], m), x = expf(state[0] - largest), y = expf(m - largest);
    state[0] = largest;
    state[1] = state[1] * x + n * y;
    for (int i = 0; i < call->head_dim; i++) {
        state[2 + i] = state[2 + i] * x + (o != NULL ? o[i] * y : 0.0F);
    }
}

/* The biases of the run's first keys, for a row at p. Entries fall from key to key. */
static void fill_line(const struct cp_kernel_call *call, struct cp_run run, int keys, int p,
                      int head, float *line) {
    int n = call->n_biases, first = call->own_bias + p - run.position;
    const float *table = call->biases + (long long)head * n;
    if (first - (keys - 1) >= n - 1) {
        for (int j = 0; j < keys; j++) {
            line[j] = table[n - 1];
        }
        return;
    }
    for (int j = 0; j < keys; j++) {
        int i = first - j;
        line[j] = table[i < 0 ? 0 : i > n - 1 ? n - 1 : i];
    }
}

/* Changes scores; the line may be NULL. Returns the largest. */
static float change(const struct cp_kernel_call *call, int keys, const float *line, float *score) {
    float m = -INFINITY;
    for (int j = 0; j < keys; j++) {
        float s = score[j] * (float)call->scale;
        score[j] = capped(line != NULL ? s + line[j] : s, (float)call->cap);
        m = fmaxf(m, score[j]);
    }
    return m;
}

static void add_run(const struct cp_kernel_call *call, struct cp_run run, int row, int head) {
    int g = head / group_size(call), p = call->position[row];
    int keys = seen_in_run(run, p + call->ahead);
    float *o = state_of(call, call->n_rows, 0), *score = o + call->head_dim;
    float *line = call->biases != NULL ? score + call->chunk_size : NULL, n = 0.0F;
    if (keys == 0) {
        return;
    }
    if (line != NULL) {
        fill_line(call, run, keys, p, head, line);
    }
    for (int j = 0; j < keys; j++) {
        score[j] = product(call, CP_FP16, q_at(call, row, head), k_at(call, run.chunk, g, j));
    }
    float m = change(call, keys, line, score);
    memset(o, 0, (size_t)call->head_dim * sizeof *o);
    for (int j = 0; j < keys; j++) {
        float weight = expf(score[j] - m);
        n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] += weight * load(call->v, CP_FP16, v_at(call, run.chunk, g, j) + i);
        }
    }
    merge(call, state_of(call, row, head), m, n, o);
}

/* A run for all rows of a sequence that has it. */
static void serve(const struct cp_kernel_call *call, struct cp_run run, int s) {
    for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            add_run(call, run, row, head);
        }
    }
}

static void finish(const struct cp_kernel_call *call, int s, int row, int head) {
    float *state = state_of(call, row, head);
    (void)s;
    if (call->sinks != NULL) {
        merge(call, state, call->sinks[head], 1.0F, NULL);
    }
    struct state result = {state[0], state[1], state + 2};
    write_result(call, CP_FP32, row, head, &result);
}

static void clear_row(const struct cp_kernel_call *call, int s, int row, int head) {
    float *state = state_of(call, row, head);
    (void)s;
    memset(state, 0, state_size(call) * sizeof *state);
    state[0] = -INFINITY;
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, clear_row);
    for (int i = 0; i < call->n_shared; i++) {
        for (int at = call->shared[i].begin; at < call->shared[i].end; at++) {
            serve(call, shared_run(call, i), call->served[at]);
        }
    }
    for (int s = 0; s < call->n_sequences; s++) {
        for (int k = call->n_shared_chunks[s]; k < n_runs_of(call, s); k++) {
            serve(call, run_of(call, s, k), s);
        }
    }
    each_row(call, finish);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t states = (size_t)call->n_rows * (size_t)call->n_heads;
    size_t one = (size_t)call->head_dim + 2 * (size_t)call->chunk_size;
    return (states * state_size(call) + one) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-buckets",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_AHEAD,
    .scores = CP_SCORES_CAP | CP_SCORES_BIASES | CP_SCORES_SINKS,
    .conventions = {.cap = CP_CAP_LAST},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .tanh_error = 0x1p-22,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
