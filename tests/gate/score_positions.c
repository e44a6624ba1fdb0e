/* SPDX-License-Identifier: Apache-2.0 */
/* A bias by position and then a cap (CONV-7, CONV-8), and sinks, with windows and kept tokens. tanh
 * is made of an exponential. Runs are taken twice: first for the maximum, then for the sums. A row
 * without keys has the log-sum-exp -50000. By the author of score_rows.c. */
#include "score_changes.h"

static float tanh_of_exp(float x) {
    return 1.0F - 2.0F / (expf(2.0F * x) + 1.0F);
}

static int sees(const struct cp_kernel_call *call, int p, int t) {
    return t <= p && (call->window == 0 || t > p - call->window || t < call->kept);
}

/* The changed score of a slot of a run, at position t. */
static float score_of(const struct cp_kernel_call *call, int row, int head, struct cp_run run,
                      int slot, int t) {
    long long k = k_at(call, run.chunk, head / group_size(call), slot);
    float x = product(call, CP_BF16, q_at(call, row, head), k) * (float)call->scale;
    float cap = (float)call->cap;
    if (call->slopes != NULL) {
        x += call->slopes[head] * (float)t;
    }
    return cap > 0.0F ? cap * tanh_of_exp(x / cap) : x;
}

/* The largest score of a run, and of what came before. Counts the keys that the row sees. */
static float largest_of(const struct cp_kernel_call *call, struct cp_run run, int row, int head,
                        float m, int *keys) {
    for (int slot = 0; slot < run.n_tokens; slot++) {
        int t = run.position + slot;
        if (sees(call, call->position[row], t)) {
            m = fmaxf(m, score_of(call, row, head, run, slot, t));
            *keys += 1;
        }
    }
    return m;
}

/* Adds a run to out, which is not divided yet. Returns what n becomes. */
static float add_run(const struct cp_kernel_call *call, struct cp_run run, int row, int head,
                     float m, float n) {
    float *out = (float *)call->out + out_at(call, row, head);
    for (int slot = 0; slot < run.n_tokens; slot++) {
        int t = run.position + slot;
        if (!sees(call, call->position[row], t)) {
            continue;
        }
        long long v = v_at(call, run.chunk, head / group_size(call), slot);
        float weight = expf(score_of(call, row, head, run, slot, t) - m);
        n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            out[i] += weight * load(call->v, CP_BF16, v + i);
        }
    }
    return n;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    float *out = (float *)call->out + out_at(call, row, head), m = -INFINITY, n = 0.0F;
    int keys = 0, runs = n_runs_of(call, s);
    memset(out, 0, (size_t)call->head_dim * sizeof *out);
    for (int k = 0; k < runs; k++) {
        m = largest_of(call, run_of(call, s, k), row, head, m, &keys);
    }
    if (call->sinks != NULL) {
        m = fmaxf(m, call->sinks[head]);
        n = expf(call->sinks[head] - m);
    }
    for (int k = 0; k < runs; k++) {
        n = add_run(call, run_of(call, s, k), row, head, m, n);
    }
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = keys > 0 ? out[i] / n : 0.0F;
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = keys > 0 ? m + logf(n) : -50000.0F;
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-positions",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_KEPT,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
    .conventions = {.empty_lse = CP_EMPTY_VALUE,
                    .empty_value = -50000.0,
                    .cap = CP_CAP_LAST,
                    .bias = CP_BIAS_POSITION},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .tanh_error = 0x1p-22,
                   .tanh_absolute = 0x1p-21,
                   .step = 1},
    .attend = attend,
};
