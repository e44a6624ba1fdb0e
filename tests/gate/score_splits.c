/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that changes scores by the other conventions (CONV-7 to CONV-9): the bias is of the
 * distance to the row, and capped with the score; scores are in bits, with log2(e) in the cap, the
 * slopes and the sinks; tanh is made of an exponential; and a log-sum-exp of base 2 is without the
 * sink. The keys of a row are split in parts, which are merged, and the sink comes in with the
 * merge: once, however many parts there are. */
#include <math.h>

#include "kernel_util.h"

#define SPLITS 4
#define LOG2_E 1.44269504F

/* Parts of a row: each has m and n, and then d numbers o, in the workspace. */
static float *part_of(const struct cp_kernel_call *call, int part) {
    return (float *)call->workspace + (size_t)part * ((size_t)call->head_dim + 2);
}

/* What 2^x is of -infinity less itself must not come up: a part without keys has n = 0. */
static float power(float x) {
    return exp2f(x);
}

static float tanh_of(float x) {
    return 1.0F - 2.0F / (expf(2.0F * x) + 1.0F);
}

/* In bits. */
static float score_of(const struct cp_kernel_call *call, int head, long long q, long long k, int t,
                      int p) {
    float dot = 0.0F, cap = (float)call->cap;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    float s = dot * (float)call->scale;
    if (call->slopes != NULL) {
        s -= call->slopes[head] * (float)(t < p ? p - t : t - p);
    }
    return cap > 0.0F ? cap * LOG2_E * tanh_of(s / cap) : s * LOG2_E;
}

static void add_key(const struct cp_kernel_call *call, float *part, float score, long long v) {
    float m = fmaxf(part[0], score), old = power(part[0] - m), weight = power(score - m);
    part[0] = m;
    part[1] = part[1] * old + weight;
    for (int i = 0; i < call->head_dim; i++) {
        part[2 + i] = part[2 + i] * old + weight * load(call->v, CP_FP16, v + i);
    }
}

/* The keys of a row, in the order of the table, in parts of equally many. */
static void fill_parts(const struct cp_kernel_call *call, int s, int row, int head) {
    long long q = q_at(call, row, head);
    int g = head / group_size(call), p = call->position[row], n = 0, j = 0;
    for (int k = 0; k < n_runs_of(call, s); k++) {
        n += seen_in_run(run_of(call, s, k), p);
    }
    for (int k = 0; k < n_runs_of(call, s); k++) {
        struct cp_run run = run_of(call, s, k);
        for (int slot = 0; slot < seen_in_run(run, p); slot++, j++) {
            float *part = part_of(call, (int)((long long)j * SPLITS / n));
            long long key = k_at(call, run.chunk, g, slot);
            add_key(call, part, score_of(call, head, q, key, run.position + slot, p),
                    v_at(call, run.chunk, g, slot));
        }
    }
}

static void merge(const struct cp_kernel_call *call, int row, int head) {
    float *sum = part_of(call, SPLITS), m = -INFINITY, of_keys = 0.0F;
    for (int part = 0; part < SPLITS; part++) {
        m = fmaxf(m, part_of(call, part)[0]);
    }
    float sink = call->sinks != NULL ? call->sinks[head] * LOG2_E : -INFINITY;
    float top = fmaxf(m, sink);
    for (int i = 0; i < call->head_dim; i++) {
        sum[i] = 0.0F;
    }
    for (int part = 0; part < SPLITS; part++) {
        const float *state = part_of(call, part);
        float factor = state[1] > 0.0F ? power(state[0] - top) : 0.0F;
        of_keys += factor * state[1];
        for (int i = 0; i < call->head_dim; i++) {
            sum[i] += factor * state[2 + i];
        }
    }
    float n = of_keys + (call->sinks != NULL ? power(sink - top) : 0.0F);
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, n > 0.0F ? sum[i] / n : 0.0F);
    }
    if (call->lse == NULL) {
        return;
    }
    float n_of_keys = 0.0F; /* against their own maximum: the sink may be far above */
    for (int part = 0; part < SPLITS; part++) {
        const float *state = part_of(call, part);
        n_of_keys += state[1] > 0.0F ? power(state[0] - m) * state[1] : 0.0F;
    }
    store(call->lse, CP_FP32, lse_at(call, row, head),
          n_of_keys > 0.0F ? m + log2f(n_of_keys) : -INFINITY);
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                for (int part = 0; part < SPLITS; part++) {
                    float *state = part_of(call, part);
                    state[0] = -INFINITY;
                    memset(state + 1, 0, ((size_t)call->head_dim + 1) * sizeof *state);
                }
                fill_parts(call, s, row, head);
                merge(call, row, head);
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (SPLITS + 1) * ((size_t)call->head_dim + 2) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-splits",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
    .conventions = {.lse_base = CP_LSE_BITS,
                    .cap = CP_CAP_LAST,
                    .bias = CP_BIAS_DISTANCE,
                    .sink = CP_SINK_BESIDE_LSE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = EXPF_ERROR,
                   .tanh_error = 0x1p-22,
                   .tanh_absolute = 0x1p-20,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
