/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, keys ahead and kept tokens (WINDOW-1), key by key over runs. Somebody who had seen the
 * header and the specification alone wrote it, with the kernels that name it and the mistakes that
 * tests/faults/ makes of them. */
#include <math.h>
#include <string.h>

#include "window_ranges.h"

static void add_key(const struct cp_kernel_call *call, const uint16_t *q, int chunk, int slot,
                    int kv_head, float *m, float *n, float *o) {
    const uint16_t *k = (const uint16_t *)call->k + k_at(call, chunk, kv_head, slot);
    const uint16_t *v = (const uint16_t *)call->v + v_at(call, chunk, kv_head, slot);
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(q, CP_FP16, i) * load(k, CP_FP16, i);
    }
    float score = dot * (float)call->scale, largest = fmaxf(*m, score);
    float weight = expf(score - largest), rescale = expf(*m - largest);
    *n = *n * rescale + weight;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = o[i] * rescale + weight * load(v, CP_FP16, i);
    }
    *m = largest;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    const uint16_t *q = (const uint16_t *)call->q + q_at(call, row, head);
    uint16_t *out = (uint16_t *)call->out + out_at(call, row, head);
    int kv_head = head / group_size(call), p = call->position[row];
    float *o = call->workspace, m = -INFINITY, n = 0.0F;
    memset(o, 0, (size_t)call->head_dim * sizeof *o);
    long long at = (long long)s * call->table_width;
    for (int i = 0; i < call->table_width && call->table[at + i] >= 0; i++) {
        int chunk = call->table[at + i], first = call->table_position[at + i];
        int tokens = call->table_tokens[at + i];
        struct seen r = slots_of(call, p, first, tokens);
        for (int slot = 0; slot < r.a; slot++) {
            add_key(call, q, chunk, slot, kv_head, &m, &n, o);
        }
        for (int slot = r.b; slot < r.e; slot++) {
            add_key(call, q, chunk, slot, kv_head, &m, &n, o);
        }
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(out, CP_FP16, i, n > 0.0F ? o[i] / n : 0.0F);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n > 0.0F ? m + logf(n) : -INFINITY;
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
    return (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "window-rows",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
