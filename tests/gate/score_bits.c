/* SPDX-License-Identifier: Apache-2.0 */
/* A cap, ALiBi's bias and sinks (SCORE-1 to SCORE-3) over trees, in bits: log2(e) is in the scale,
 * the cap, the slopes and the sinks. Rows may see keys ahead. Tiles have 8 keys of a chunk, for all
 * query heads of a K/V head. The log-sum-exp is that of the keys alone, and the sink is in the
 * divisor (CONV-9). By the author of score_rows.c. */
#include "score_changes.h"
#include "window_ranges.h"

#define TILE 8

static const float log2e = 1.44269504F;

/* The changed score of the key at k and the position t, in bits. */
static float score_of(const struct cp_kernel_call *call, int row, int head, long long k, int t) {
    int p = call->position[row];
    float scale = (float)(call->scale * 1.4426950408889634);
    float cap = (float)(call->cap * 1.4426950408889634);
    float slope = call->slopes != NULL ? call->slopes[head] * log2e : 0.0F;
    return capped(product(call, CP_FP16, q_at(call, row, head), k) * scale, cap) +
           slope * (float)(t - p);
}

/* The head takes the slots from .. to - 1 of a chunk that begins at `position`. */
static void add_tile(const struct cp_kernel_call *call, int row, int head, int chunk, int position,
                     int from, int to, struct state *state) {
    int g = head / group_size(call);
    float score[TILE], largest = state->m;
    for (int j = from; j < to; j++) {
        score[j - from] = score_of(call, row, head, k_at(call, chunk, g, j), position + j);
        largest = fmaxf(largest, score[j - from]);
    }
    float rescale = exp2f(state->m - largest);
    state->m = largest;
    state->n *= rescale;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] *= rescale;
    }
    for (int j = from; j < to; j++) {
        float weight = exp2f(score[j - from] - largest);
        state->n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            state->o[i] += weight * load(call->v, CP_FP16, v_at(call, chunk, g, j) + i);
        }
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head,
                   const struct state *state) {
    float *out = (float *)call->out + out_at(call, row, head);
    float n = state->n, factor = 1.0F;
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n > 0.0F ? state->m + log2f(n) : -INFINITY;
    }
    if (call->sinks != NULL) {
        float sink = call->sinks[head] * log2e, largest = fmaxf(state->m, sink);
        factor = exp2f(state->m - largest);
        n = n * factor + exp2f(sink - largest);
    }
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = n > 0.0F ? state->o[i] * factor / n : 0.0F;
    }
}

/* A row, for the query heads of a K/V head. */
static void attend_group(const struct cp_kernel_call *call, int s, int row, int kv_head) {
    int group = group_size(call), c = call->chunk_size;
    struct state *state = call->workspace;
    int keys = clamp((long long)call->position[row] + call->ahead + 1, 0, call->n_tokens[s]);
    for (int g = 0; g < group; g++) {
        state[g].o = (float *)(state + group) + g * call->head_dim;
        clear(call, &state[g]);
    }
    for (int at = 0; at < keys; at += c) {
        int here = clamp(keys - at, 0, c);
        for (int from = 0; from < here; from += TILE) {
            int to = clamp(from + TILE, 0, here);
            for (int g = 0; g < group; g++) {
                add_tile(call, row, kv_head * group + g, chunk_of(call, s, at), at, from, to,
                         &state[g]);
            }
        }
    }
    for (int g = 0; g < group; g++) {
        finish(call, row, kv_head * group + g, &state[g]);
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int kv_head = 0; kv_head < call->n_kv_heads; kv_head++) {
                attend_group(call, s, row, kv_head);
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t one = sizeof(struct state) + (size_t)call->head_dim * sizeof(float);
    return (size_t)group_size(call) * one;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-bits",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_AHEAD,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
    .conventions = {.lse_base = CP_LSE_BITS, .sink = CP_SINK_BESIDE_LSE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = EXPF_ERROR,
                   .tanh_error = 0x1p-22,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
