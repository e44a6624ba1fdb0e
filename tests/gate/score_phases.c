/* SPDX-License-Identifier: Apache-2.0 */
/* A cap, ALiBi's bias and sinks (SCORE-1 to SCORE-3) in two phases, with windows, keys ahead and
 * kept tokens. The first takes each descriptor for all that it serves, the second the sequences'
 * own runs; the sink is merged last. A run is left out where the cap and the bias say that its
 * weights are 0. By the author of score_rows.c. */
#include "score_changes.h"
#include "window_ranges.h"

/* So many nats below the maximum expf() is 0. */
#define NOTHING 120.0F

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

/* Has the run no weight beside a score of m? Its last seen slot is end - 1. */
static int weighs_nothing(const struct cp_kernel_call *call, struct cp_run run, int end, int p,
                          int head, float m) {
    float cap = (float)call->cap, slope = slope_of(call, head);
    float first = slope * (float)(run.position - p);
    float last = slope * (float)(run.position + end - 1 - p);
    return cap > 0.0F && cap + fmaxf(first, last) < m - NOTHING;
}

/* Sums the seen slots into o. Returns their n. */
static float add_values(const struct cp_kernel_call *call, struct seen r, long long v,
                        const float *score, float m, float *o) {
    float n = 0.0F;
    memset(o, 0, (size_t)call->head_dim * sizeof *o);
    for (int j = 0; j < r.e; j++) {
        if (j >= r.a && j < r.b) {
            continue;
        }
        float weight = expf(score[j] - m);
        n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] += weight * load(call->v, CP_FP32, v + j * call->v_slot + i);
        }
    }
    return n;
}

static void add_run(const struct cp_kernel_call *call, struct cp_run run, int row, int head) {
    int g = head / group_size(call), p = call->position[row];
    struct seen r = slots_of(call, p, run.position, run.n_tokens);
    float *state = state_of(call, row, head), *o = state_of(call, call->n_rows, 0);
    float *score = o + call->head_dim, slope = slope_of(call, head), m = -INFINITY;
    if (r.a + r.e - r.b == 0 || weighs_nothing(call, run, r.e, p, head, state[0])) {
        return;
    }
    for (int j = 0; j < r.e; j++) {
        if (j >= r.a && j < r.b) {
            continue;
        }
        float x = product(call, CP_FP32, q_at(call, row, head), k_at(call, run.chunk, g, j));
        x = capped(x * (float)call->scale, (float)call->cap);
        score[j] = x + slope * (float)(run.position + j - p);
        m = fmaxf(m, score[j]);
    }
    float n = add_values(call, r, v_at(call, run.chunk, g, 0), score, m, o);
    merge(call, state, m, n, o);
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
    size_t one = (size_t)call->head_dim + (size_t)call->chunk_size;
    return (states * state_size(call) + one) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-phases",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
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
