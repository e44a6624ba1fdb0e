/* SPDX-License-Identifier: Apache-2.0 */
/* Windows counted without the row's own position (CONV-6). The keys that a row sees are copied, and
 * plain attention follows: all scores, one maximum, weights divided by their sum, rounded, times V.
 * By the author of window_rows.c. */
#include <math.h>
#include <string.h>

#include "kernel_util.h"

static int sees(const struct cp_kernel_call *call, int p, int t) {
    return t <= (long long)p + call->ahead &&
           (call->window < 0 || t >= (long long)p - call->window || t < call->kept);
}

static size_t room(const struct cp_kernel_call *call) {
    return (size_t)call->table_width * (size_t)call->chunk_size;
}

static int gather(const struct cp_kernel_call *call, int s, int p, int kv_head, uint16_t *keys,
                  uint16_t *values) {
    int n = 0;
    size_t bytes = (size_t)call->head_dim * sizeof(uint16_t);
    long long at = (long long)s * call->table_width;
    for (int i = 0; i < call->table_width && call->table[at + i] >= 0; i++) {
        int chunk = call->table[at + i], first = call->table_position[at + i];
        for (int slot = 0; slot < call->table_tokens[at + i]; slot++) {
            if (sees(call, p, first + slot)) {
                memcpy(keys + (size_t)n * (size_t)call->head_dim,
                       (const uint16_t *)call->k + k_at(call, chunk, kv_head, slot), bytes);
                memcpy(values + (size_t)n * (size_t)call->head_dim,
                       (const uint16_t *)call->v + v_at(call, chunk, kv_head, slot), bytes);
                n++;
            }
        }
    }
    return n;
}

static void plain(const struct cp_kernel_call *call, int row, int head, int n, const uint16_t *keys,
                  const uint16_t *values, float *score) {
    int d = call->head_dim;
    const uint16_t *q = (const uint16_t *)call->q + q_at(call, row, head);
    uint16_t *out = (uint16_t *)call->out + out_at(call, row, head);
    float m = -INFINITY, sum = 0.0F;
    for (int j = 0; j < n; j++) {
        float dot = 0.0F;
        for (int i = 0; i < d; i++) {
            dot += load(q, CP_BF16, i) * load(keys, CP_BF16, (long long)j * d + i);
        }
        score[j] = dot * (float)call->scale;
        m = fmaxf(m, score[j]);
    }
    for (int j = 0; j < n; j++) {
        score[j] = expf(score[j] - m);
        sum += score[j];
    }
    for (int j = 0; j < n; j++) {
        score[j] = (float)cp_bf16_to_double(cp_bf16_from_double(score[j] / sum));
    }
    for (int i = 0; i < d; i++) {
        float o = 0.0F;
        for (int j = 0; j < n; j++) {
            o += score[j] * load(values, CP_BF16, (long long)j * d + i);
        }
        store(out, CP_BF16, i, o);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n > 0 ? m + logf(sum) : -INFINITY;
    }
}

static int attend(const struct cp_kernel_call *call) {
    int group = group_size(call);
    float *score = call->workspace;
    uint16_t *keys = (uint16_t *)(score + room(call));
    uint16_t *values = keys + room(call) * (size_t)call->head_dim;
    for (int kv_head = 0; kv_head < call->n_kv_heads; kv_head++) {
        for (int s = 0; s < call->n_sequences; s++) {
            for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
                int n = gather(call, s, call->position[row], kv_head, keys, values);
                for (int head = kv_head * group; head < (kv_head + 1) * group; head++) {
                    plain(call, row, head, n, keys, values, score);
                }
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return room(call) * (sizeof(float) + 2 * (size_t)call->head_dim * sizeof(uint16_t));
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "window-gathered",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .conventions = {.window = CP_WINDOW_BEFORE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .normalises = 1,
                   .exp_error = EXPF_ERROR,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
