/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel in binary64 for a cache in E5M2 with one scale for K and one for V (CONV-10), number by
 * number and key by key, with a cap and ALiBi's bias. By the author of cache_tiles.c. */
#include "cache_numbers.h"

/* NUM-16 */
static double from_e5m2(uint8_t x) {
    int e = x >> 2 & 31, f = x & 3;
    double y = e == 0 ? ldexp(f, -16) : ldexp(4 + f, e - 17);
    return (x & 0x80) != 0 ? -y : y;
}

/* The state of a row and head: m, n, and o in the workspace. */
struct wide {
    double m, n, *o;
};

/* Of a key at position t. */
static double score_of(const struct cp_kernel_call *call, int row, int head, const uint8_t *k,
                       int t) {
    const double *q = (const double *)call->q + q_at(call, row, head);
    double k_scale = (double)call->k_scales[0], dot = 0.0;
    for (int i = 0; i < call->head_dim; i++) {
        dot += q[i] * (from_e5m2(k[i]) * k_scale);
    }
    double score = dot * call->scale;
    if (call->cap > 0.0) {
        score = call->cap * tanh(score / call->cap);
    }
    if (call->slopes != NULL) {
        score += (double)call->slopes[head] * (t - call->position[row]);
    }
    return score;
}

static void add_value(const struct cp_kernel_call *call, struct wide *state, double score,
                      const uint8_t *v) {
    double v_scale = (double)call->v_scales[0], largest = fmax(state->m, score);
    double weight = exp(score - largest), factor = exp(state->m - largest);
    state->n = state->n * factor + weight;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] = state->o[i] * factor + weight * (from_e5m2(v[i]) * v_scale);
    }
    state->m = largest;
}

static void finish(const struct cp_kernel_call *call, int row, int head, const struct wide *state) {
    double *out = (double *)call->out + out_at(call, row, head);
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = state->n > 0.0 ? state->o[i] / state->n : 0.0;
    }
    if (call->lse != NULL) {
        ((double *)call->lse)[lse_at(call, row, head)] =
            state->n > 0.0 ? state->m + log(state->n) : -INFINITY;
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    struct wide state = {-INFINITY, 0.0, call->workspace};
    int g = head / group_size(call);
    memset(state.o, 0, (size_t)call->head_dim * sizeof *state.o);
    for (int k = 0; k < n_runs_of(call, s); k++) {
        struct cp_run run = run_of(call, s, k);
        for (int slot = 0; slot < seen_in_run(run, call->position[row]); slot++) {
            const uint8_t *key = key_of(call, run.chunk, g, slot);
            double score = score_of(call, row, head, key, run.position + slot);
            add_value(call, &state, score, value_of(call, run.chunk, g, slot));
        }
    }
    finish(call, row, head, &state);
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->head_dim * sizeof(double);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-double",
    .q_type = CP_FP64,
    .kv_type = CP_FP64,
    .out_type = CP_FP64,
    .lse_type = CP_FP64,
    .plans = CP_PLANS_LISTS,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES,
    .cache = {.k = CP_CACHE_E5M2, .v = CP_CACHE_E5M2, .scales = CP_CACHE_SCALE_TENSOR},
    .arithmetic = {.score = CP_SUM_FP64,
                   .weights = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP64,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-51,
                   .tanh_error = 0x1p-50,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
