/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and keys ahead (WINDOW-1) over trees. The keys of a sequence are cut into 4 splits, and a
 * window leaves some without keys. Each is divided by its sum, and they are merged by their
 * log-sum-exps. By the author of window_rows.c. */
#include <math.h>
#include <string.h>

#include "window_ranges.h"

#define SPLITS 4

static void one_split(const struct cp_kernel_call *call, int s, int row, int head, int from, int to,
                      float *o, float *lse) {
    const int *table = call->table + (long long)s * call->table_width;
    const uint16_t *q = (const uint16_t *)call->q + q_at(call, row, head);
    int kv_head = head / group_size(call), d = call->head_dim;
    float m = -INFINITY, n = 0.0F;
    memset(o, 0, (size_t)d * sizeof *o);
    for (int j = from; j < to; j++) {
        int chunk = table[j / call->chunk_size], slot = j % call->chunk_size;
        const uint16_t *k = (const uint16_t *)call->k + k_at(call, chunk, kv_head, slot);
        const uint16_t *v = (const uint16_t *)call->v + v_at(call, chunk, kv_head, slot);
        float dot = 0.0F;
        for (int i = 0; i < d; i++) {
            dot += load(q, CP_FP16, i) * load(k, CP_FP16, i);
        }
        float score = dot * (float)call->scale, largest = fmaxf(m, score);
        float weight = expf(score - largest), rescale = expf(m - largest);
        n = n * rescale + weight;
        for (int i = 0; i < d; i++) {
            o[i] = o[i] * rescale + weight * load(v, CP_FP16, i);
        }
        m = largest;
    }
    *lse = -INFINITY;
    if (from < to) {
        for (int i = 0; i < d; i++) {
            o[i] /= n;
        }
        *lse = m + logf(n);
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    uint16_t *out = (uint16_t *)call->out + out_at(call, row, head);
    int p = call->position[row], keys = call->n_tokens[s], d = call->head_dim;
    int first = call->window > 0 ? clamp((long long)p - call->window + 1, 0, keys) : 0;
    int end = clamp((long long)p + call->ahead + 1, 0, keys);
    int size = (keys + SPLITS - 1) / SPLITS;
    float *o = call->workspace, lse[SPLITS], largest = -INFINITY, sum = 0.0F;
    for (int i = 0; i < SPLITS; i++) {
        int from = i * size > first ? i * size : first;
        int to = (i + 1) * size < end ? (i + 1) * size : end;
        one_split(call, s, row, head, from, to, o + i * d, &lse[i]);
        largest = fmaxf(largest, lse[i]);
    }
    for (int i = 0; i < SPLITS; i++) {
        lse[i] = largest > -INFINITY ? expf(lse[i] - largest) : 0.0F;
        sum += lse[i];
    }
    for (int x = 0; x < d; x++) {
        float total = 0.0F;
        for (int i = 0; i < SPLITS; i++) {
            total += lse[i] * o[i * d + x];
        }
        store(out, CP_FP16, x, sum > 0.0F ? total / sum : 0.0F);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] =
            sum > 0.0F ? largest + logf(sum) : -INFINITY;
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
    return SPLITS * (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "window-splits",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD,
    .conventions = {.invariant = CP_INVARIANT_BATCH},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
