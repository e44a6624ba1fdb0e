/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache of integers with a scale for each token (CONV-10): splits of four runs, each
 * divided by its sum, are merged by their log-sum-exps. The scale of K multiplies the score of its
 * key, before ALiBi's bias is added, and that of V the weight. By the author of cache_tiles.c. */
#include "cache_numbers.h"

#define RUNS 4  /* of a split */
#define STEP 16 /* keys that are weighed against one maximum */

/* A run that a row and head read. */
struct reading {
    struct cp_run run;
    int row, head, kv_head;
};

static float score_of(const struct cp_kernel_call *call, const struct reading *r, int slot) {
    long long q = q_at(call, r->row, r->head);
    const uint8_t *k = key_of(call, r->run.chunk, r->kv_head, slot);
    float k_scale = call->k_scales[scale_at(call, r->run.chunk, r->kv_head, slot)];
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * from_int8(k[i]);
    }
    float score = dot * (float)call->scale * k_scale;
    if (call->slopes != NULL) {
        int distance = r->run.position + slot - call->position[r->row];
        score += call->slopes[r->head] * (float)distance;
    }
    return score;
}

static void add_value(const struct cp_kernel_call *call, const struct reading *r,
                      struct state *state, float weight, int slot) {
    const uint8_t *v = value_of(call, r->run.chunk, r->kv_head, slot);
    float v_scale = call->v_scales[scale_at(call, r->run.chunk, r->kv_head, slot)];
    float scaled = weight * v_scale;
    state->n += weight;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] += scaled * from_int8(v[i]);
    }
}

/* The slots from `first` on, `keys` of them. */
static void add_step(const struct cp_kernel_call *call, const struct reading *r,
                     struct state *state, int first, int keys) {
    float score[STEP], largest = state->m;
    for (int j = 0; j < keys; j++) {
        score[j] = score_of(call, r, first + j);
        largest = fmaxf(largest, score[j]);
    }
    rescale(call, state, largest);
    for (int j = 0; j < keys; j++) {
        add_value(call, r, state, expf(score[j] - largest), first + j);
    }
}

/* The runs begin .. end - 1: o is divided by n. Returns the log-sum-exp. */
static float attend_split(const struct cp_kernel_call *call, int s, int row, int head, int begin,
                          int end, float *o) {
    struct state state = {.o = o};
    clear(call, &state);
    for (int k = begin; k < end; k++) {
        struct reading r = {run_of(call, s, k), row, head, head / group_size(call)};
        int count = seen_in_run(r.run, call->position[row]);
        for (int first = 0; first < count; first += STEP) {
            add_step(call, &r, &state, first, count - first < STEP ? count - first : STEP);
        }
    }
    for (int i = 0; i < call->head_dim && state.n > 0.0F; i++) {
        o[i] /= state.n;
    }
    return state.n > 0.0F ? state.m + logf(state.n) : -INFINITY;
}

/* The state takes n splits with their log-sum-exps. */
static void merge(const struct cp_kernel_call *call, struct state *state, const float *lse,
                  const float *part, int n) {
    for (int i = 0; i < n; i++) {
        state->m = fmaxf(state->m, lse[i]);
    }
    for (int i = 0; i < n; i++) {
        float weight = lse[i] > -INFINITY ? expf(lse[i] - state->m) : 0.0F;
        state->n += weight;
        for (int e = 0; e < call->head_dim; e++) {
            state->o[e] += weight * part[(long long)i * call->head_dim + e];
        }
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    struct state state = {.o = call->workspace};
    float *lse = state.o + call->head_dim, *part = lse + call->table_width;
    int n_runs = n_runs_of(call, s), n = 0;
    clear(call, &state);
    for (int begin = 0; begin < n_runs; begin += RUNS, n++) {
        int end = begin + RUNS < n_runs ? begin + RUNS : n_runs;
        lse[n] = attend_split(call, s, row, head, begin, end, part + (long long)n * call->head_dim);
    }
    merge(call, &state, lse, part, n);
    write_result(call, CP_FP16, row, head, &state);
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t d = (size_t)call->head_dim;
    return ((size_t)call->table_width * (1 + d) + d) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-splits",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .scores = CP_SCORES_SLOPES,
    .cache = {.k = CP_CACHE_INT8, .v = CP_CACHE_INT8, .scales = CP_CACHE_SCALE_TOKEN},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .exp_error = EXPF_ERROR,
                   .step = STEP},
    .workspace = workspace,
    .attend = attend,
};
