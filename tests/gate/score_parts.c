/* SPDX-License-Identifier: Apache-2.0 */
/* A cap, ALiBi's bias and sinks (SCORE-1 to SCORE-3) over trees, with windows of keys before the
 * row (CONV-6). The chunks that a row sees are cut into parts. Each part is divided by its own sum,
 * and the merge adds the sink, once. tanh is a rational function. By the author of score_rows.c. */
#include "score_changes.h"

#define PARTS 4

/* Pade [7/6]. From 4.97 on tanh is 1 within 10^-4. */
static float tanh_rational(float x) {
    float y = x * x;
    if (fabsf(x) > 4.97F) {
        return x > 0.0F ? 1.0F : -1.0F;
    }
    return x * (135135.0F + y * (17325.0F + y * (378.0F + y))) /
           (135135.0F + y * (62370.0F + y * (3150.0F + y * 28.0F)));
}

/* The changed score of the key at k and the position j, for a row at p. */
static float score_of(const struct cp_kernel_call *call, int row, int head, long long k, int j) {
    int p = call->position[row];
    float cap = (float)call->cap;
    float x = product(call, CP_FP32, q_at(call, row, head), k) * (float)call->scale;
    x = cap > 0.0F ? cap * tanh_rational(x / cap) : x;
    return x + slope_of(call, head) * (float)(j - p);
}

/* Keys from .. to - 1 of a row: o / n into o. Returns the log-sum-exp. */
static float part(const struct cp_kernel_call *call, int s, int row, int head, int from, int to,
                  float *o) {
    struct state state = {.o = o};
    int g = head / group_size(call), c = call->chunk_size;
    clear(call, &state);
    for (int j = from; j < to; j++) {
        int chunk = chunk_of(call, s, j);
        float x = score_of(call, row, head, k_at(call, chunk, g, j % c), j);
        add_key(call, CP_FP32, &state, x, v_at(call, chunk, g, j % c));
    }
    if (from >= to) {
        return -INFINITY;
    }
    for (int i = 0; i < call->head_dim; i++) {
        o[i] /= state.n;
    }
    return state.m + logf(state.n);
}

static void write_lse(const struct cp_kernel_call *call, int row, int head, float lse) {
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = lse;
    }
}

/* Writes the row of parts with outputs o and log-sum-exps lse. */
static void merge(const struct cp_kernel_call *call, int row, int head, int parts, const float *o,
                  const float *lse) {
    int d = call->head_dim;
    float *out = (float *)call->out + out_at(call, row, head);
    float largest = call->sinks != NULL ? call->sinks[head] : -INFINITY, sum = 0.0F;
    for (int i = 0; i < parts; i++) {
        largest = fmaxf(largest, lse[i]);
    }
    memset(out, 0, (size_t)d * sizeof *out);
    if (largest == -INFINITY) {
        write_lse(call, row, head, -INFINITY);
        return;
    }
    for (int i = 0; i < parts; i++) {
        float weight = expf(lse[i] - largest);
        sum += weight;
        for (int e = 0; e < d; e++) {
            out[e] += weight * o[i * d + e];
        }
    }
    if (call->sinks != NULL) {
        sum += expf(call->sinks[head] - largest);
    }
    for (int e = 0; e < d; e++) {
        out[e] /= sum;
    }
    write_lse(call, row, head, largest + logf(sum));
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int c = call->chunk_size, d = call->head_dim, p = call->position[row], to = p + 1;
    int from = call->window >= 0 && p - call->window > 0 ? p - call->window : 0;
    int first = from / c, chunks = to > from ? p / c + 1 - first : 0;
    int parts = chunks < 3 ? 1 : chunks < 6 ? 2 : PARTS, each = (chunks + parts - 1) / parts;
    float *o = call->workspace, lse[PARTS];
    for (int i = 0; i < parts; i++) {
        int begin = (first + i * each) * c, end = begin + each * c;
        begin = begin > from ? begin : from;
        end = end < to ? end : to;
        lse[i] = part(call, s, row, head, begin, end, o + i * d);
    }
    merge(call, row, head, parts, o, lse);
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return PARTS * (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-parts",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
    .conventions = {.window = CP_WINDOW_BEFORE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .exp_error = EXPF_ERROR,
                   .tanh_error = 0x1.ap-14,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
