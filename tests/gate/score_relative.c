/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel whose scores have a bias from a table by distance (SCORE-5), as relative attention has
 * it, and a cap, sinks and windows beside it. One row and head at a time: all its scores, which are
 * in bits, their maximum, then the sums. Runs may be partial and stand anywhere. */
#include <math.h>

#include "kernel_util.h"

#define LOG2_E 1.4426950408889634F
#define LN_2   0.6931471805599453F

/* WINDOW-1: does a row at p see the key at t? */
static int sees(const struct cp_kernel_call *call, int p, int t) {
    int in_window = call->window == 0 || t > p - call->window || t < call->kept;
    return t <= p + call->ahead && in_window;
}

/* The bias of a key at t for a row at p: that of the table's end where the table ends before. */
static float bias_of(const struct cp_kernel_call *call, int head, int t, int p) {
    int n = call->n_biases, i = call->own_bias + p - t;
    if (call->biases == NULL) {
        return 0.0F;
    }
    i = i < 0 ? 0 : i;
    i = i > n - 1 ? n - 1 : i;
    return call->biases[(long long)head * n + i];
}

/* In bits, capped and biased. */
static float score_of(const struct cp_kernel_call *call, int head, long long q, long long k, int t,
                      int p) {
    float dot = 0.0F, cap = (float)call->cap;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_BF16, q + i) * load(call->k, CP_BF16, k + i);
    }
    float s = dot * (float)call->scale;
    if (cap > 0.0F) {
        s = cap * tanhf(s / cap);
    }
    return s * LOG2_E + bias_of(call, head, t, p) * LOG2_E;
}

/* The scores of the keys that the row sees, to `score`. Returns the largest one. */
static float scores_of(const struct cp_kernel_call *call, int sequence, int row, int head,
                       float *score) {
    int g = head / group_size(call), p = call->position[row], n = 0;
    float m = -INFINITY;
    for (int k = 0; k < n_runs_of(call, sequence); k++) {
        struct cp_run run = run_of(call, sequence, k);
        for (int slot = 0; slot < run.n_tokens; slot++) {
            int t = run.position + slot;
            if (sees(call, p, t)) {
                long long key = k_at(call, run.chunk, g, slot);
                score[n] = score_of(call, head, q_at(call, row, head), key, t, p);
                m = fmaxf(m, score[n++]);
            }
        }
    }
    return m;
}

/* Adds the weighted values of these keys to o. Returns the sum of weights. */
static float add_keys(const struct cp_kernel_call *call, int sequence, int row, int head,
                      const float *score, float m, float *o) {
    int g = head / group_size(call), p = call->position[row], seen = 0;
    float n = 0.0F;
    for (int k = 0; k < n_runs_of(call, sequence); k++) {
        struct cp_run run = run_of(call, sequence, k);
        for (int slot = 0; slot < run.n_tokens; slot++) {
            if (sees(call, p, run.position + slot)) {
                long long v = v_at(call, run.chunk, g, slot);
                float weight = exp2f(score[seen++] - m);
                n += weight;
                for (int i = 0; i < call->head_dim; i++) {
                    o[i] += weight * load(call->v, CP_BF16, v + i);
                }
            }
        }
    }
    return n;
}

static void attend_row(const struct cp_kernel_call *call, int sequence, int row, int head) {
    float *o = call->workspace, *score = o + call->head_dim;
    float sink = call->sinks != NULL ? call->sinks[head] * LOG2_E : -INFINITY;
    float m = fmaxf(scores_of(call, sequence, row, head, score), sink), n = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = 0.0F;
    }
    if (m > -INFINITY) {
        n = add_keys(call, sequence, row, head, score, m, o) + exp2f(sink - m);
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_BF16, out_at(call, row, head) + i, n > 0.0F ? o[i] / n : 0.0F);
    }
    if (call->lse != NULL) {
        store(call->lse, CP_FP32, lse_at(call, row, head),
              n > 0.0F ? (m + log2f(n)) * LN_2 : -INFINITY);
    }
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

static size_t workspace(const struct cp_kernel_call *call) {
    return ((size_t)call->head_dim + (size_t)call->max_tokens) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-relative",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .scores = CP_SCORES_CAP | CP_SCORES_BIASES | CP_SCORES_SINKS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .tanh_error = 0x1p-22,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
