/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, keys ahead and kept tokens (WINDOW-1) in powers of two. Tiles of 16 keys begin where a
 * range begins; P is rounded to binary16, and so is what is summed. By the author of
 * window_rows.c. */
#include <math.h>
#include <string.h>

#include "window_ranges.h"

#define TILE    16
#define NOTHING (-0x1p100F)

static void add_tile(const struct cp_kernel_call *call, const uint16_t *q, int chunk, int kv_head,
                     int from, int n, float *state) {
    int d = call->head_dim;
    const uint16_t *k = (const uint16_t *)call->k + k_at(call, chunk, kv_head, from);
    const uint16_t *v = (const uint16_t *)call->v + v_at(call, chunk, kv_head, from);
    float score[TILE], m = state[0], *o = state + 2;
    for (int j = 0; j < n; j++) {
        float dot = 0.0F;
        for (int i = 0; i < d; i++) {
            dot += load(q, CP_FP16, i) * load(k, CP_FP16, j * call->k_slot + i);
        }
        score[j] = dot * (float)(call->scale * 1.4426950408889634);
        m = fmaxf(m, score[j]);
    }
    float rescale = exp2f(state[0] - m);
    state[1] *= rescale;
    for (int i = 0; i < d; i++) {
        o[i] *= rescale;
    }
    for (int j = 0; j < n; j++) {
        float weight = (float)cp_fp16_to_double(cp_fp16_from_double(exp2f(score[j] - m)));
        state[1] += weight;
        for (int i = 0; i < d; i++) {
            o[i] += weight * load(v, CP_FP16, j * call->v_slot + i);
        }
    }
    state[0] = m;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    const uint16_t *q = (const uint16_t *)call->q + q_at(call, row, head);
    uint16_t *out = (uint16_t *)call->out + out_at(call, row, head);
    int kv_head = head / group_size(call), p = call->position[row];
    float *state = call->workspace;
    memset(state, 0, (2 + (size_t)call->head_dim) * sizeof *state);
    state[0] = -INFINITY;
    long long at = (long long)s * call->table_width;
    for (int i = 0; i < call->table_width && call->table[at + i] >= 0; i++) {
        int chunk = call->table[at + i], tokens = call->table_tokens[at + i];
        struct seen r = slots_of(call, p, call->table_position[at + i], tokens);
        for (int from = 0; from < r.a; from += TILE) {
            add_tile(call, q, chunk, kv_head, from, clamp(r.a - from, 0, TILE), state);
        }
        for (int from = r.b; from < r.e; from += TILE) {
            add_tile(call, q, chunk, kv_head, from, clamp(r.e - from, 0, TILE), state);
        }
    }
    float sum = state[1];
    for (int i = 0; i < call->head_dim; i++) {
        store(out, CP_FP16, i, sum > 0.0F ? state[2 + i] / sum : 0.0F);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] =
            sum > 0.0F ? state[0] + log2f(sum) : NOTHING;
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
    return (2 + (size_t)call->head_dim) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "window-bits",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .conventions = {.lse_base = CP_LSE_BITS, .empty_lse = CP_EMPTY_VALUE, .empty_value = -0x1p100},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .rounded_sum = 1,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
