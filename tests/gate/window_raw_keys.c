/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and kept tokens (WINDOW-1) over trees, of keys without positions. Tiles of 16 keys begin
 * where a window begins, and reach across chunks. Decoding, of one row, and prefill are apart. By
 * the author of window_rows.c. */
#include <math.h>
#include <string.h>

#include "window_ranges.h"

#define TILE 16

static void add_tile(const struct cp_kernel_call *call, const int *table, const float *q,
                     int kv_head, int from, int n, float *state) {
    int d = call->head_dim, half = call->rotary_dim / 2;
    float score[TILE], m = state[0], *o = state + 2;
    for (int j = 0; j < n; j++) {
        int t = from + j, chunk = table[t / call->chunk_size], slot = t % call->chunk_size;
        const uint16_t *k = (const uint16_t *)call->k + k_at(call, chunk, kv_head, slot);
        const float *angle = call->rotation + (long long)t * call->rotary_dim;
        float dot = 0.0F;
        for (int i = 0; i < half; i++) {
            float x = load(k, CP_FP16, i), y = load(k, CP_FP16, i + half);
            float c = angle[i], sine = angle[half + i];
            dot += q[i] * (c * x - sine * y) + q[i + half] * (sine * x + c * y);
        }
        for (int i = call->rotary_dim; i < d; i++) {
            dot += q[i] * load(k, CP_FP16, i);
        }
        score[j] = dot * (float)call->scale;
        m = fmaxf(m, score[j]);
    }
    float rescale = expf(state[0] - m);
    state[1] *= rescale;
    for (int i = 0; i < d; i++) {
        o[i] *= rescale;
    }
    for (int j = 0; j < n; j++) {
        int t = from + j, chunk = table[t / call->chunk_size], slot = t % call->chunk_size;
        const uint16_t *v = (const uint16_t *)call->v + v_at(call, chunk, kv_head, slot);
        float weight = expf(score[j] - m);
        state[1] += weight;
        for (int i = 0; i < d; i++) {
            o[i] += weight * load(v, CP_FP16, i);
        }
    }
    state[0] = m;
}

static void add_keys(const struct cp_kernel_call *call, const int *table, const float *q,
                     int kv_head, int from, int to, float *state) {
    for (int at = from; at < to; at += TILE) {
        add_tile(call, table, q, kv_head, at, clamp(to - at, 0, TILE), state);
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head, const float *state) {
    float *out = (float *)call->out + out_at(call, row, head);
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = state[1] > 0.0F ? state[2 + i] / state[1] : 0.0F;
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] =
            state[1] > 0.0F ? state[0] + logf(state[1]) : -INFINITY;
    }
}

static void decode(const struct cp_kernel_call *call, int s, int head, float *state) {
    int row = call->query_begin[s], keys = call->n_tokens[s];
    int kv_head = head / group_size(call);
    const int *table = call->table + (long long)s * call->table_width;
    const float *q = (const float *)call->q + q_at(call, row, head);
    int begin = call->window > 0 && keys > call->window ? keys - call->window : 0;
    int kept = call->kept < begin ? call->kept : begin;
    add_keys(call, table, q, kv_head, 0, kept, state);
    add_keys(call, table, q, kv_head, begin, keys, state);
    finish(call, row, head, state);
}

static void prefill(const struct cp_kernel_call *call, int s, int row, int head, float *state) {
    int p = call->position[row], kv_head = head / group_size(call);
    const int *table = call->table + (long long)s * call->table_width;
    const float *q = (const float *)call->q + q_at(call, row, head);
    int end = clamp((long long)p + 1, 0, call->n_tokens[s]);
    int begin = call->window > 0 ? clamp((long long)p - call->window + 1, 0, end) : 0;
    int kept = call->kept < begin ? call->kept : begin;
    add_keys(call, table, q, kv_head, 0, kept, state);
    add_keys(call, table, q, kv_head, begin, end, state);
    finish(call, row, head, state);
}

static int attend(const struct cp_kernel_call *call) {
    float *state = call->workspace;
    for (int s = 0; s < call->n_sequences; s++) {
        int rows = call->query_begin[s + 1] - call->query_begin[s];
        for (int r = 0; r < rows; r++) {
            for (int head = 0; head < call->n_heads; head++) {
                memset(state, 0, (2 + (size_t)call->head_dim) * sizeof *state);
                state[0] = -INFINITY;
                if (rows == 1) {
                    decode(call, s, head, state);
                } else {
                    prefill(call, s, call->query_begin[s] + r, head, state);
                }
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (2 + (size_t)call->head_dim) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "window-raw-keys",
    .q_type = CP_FP32,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .keys = CP_KEYS_RAW,
    .pairs = CP_PAIRS_HALVES,
    .masks = CP_MASKS_WINDOW | CP_MASKS_KEPT,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
