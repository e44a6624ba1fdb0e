/* SPDX-License-Identifier: Apache-2.0 */
/* Keys ahead (WINDOW-1) over trees, as in an encoder, and no window. Tiles of 32 keys reach across
 * chunks, the query is scaled in binary32, and a row without keys is 0 / 0 (CONV-2). By the author
 * of window_rows.c. */
#include <math.h>

#include "window_ranges.h"

#define TILE 32

static long long slot_of(const struct cp_kernel_call *call, int s, int t, int kv_head, int of_k) {
    int chunk = chunk_of(call, s, t), slot = t % call->chunk_size;
    return of_k ? k_at(call, chunk, kv_head, slot) : v_at(call, chunk, kv_head, slot);
}

/* Adds `width` keys from key `tile` on to the state m, n, o. */
static void add_tile(const struct cp_kernel_call *call, int s, int kv_head, int tile, int width,
                     const float *q, float *m, float *n, float *o) {
    float score[TILE], largest = *m;
    for (int j = 0; j < width; j++) {
        const float *key = (const float *)call->k + slot_of(call, s, tile + j, kv_head, 1);
        score[j] = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            score[j] += q[i] * key[i];
        }
        largest = fmaxf(largest, score[j]);
    }
    float rescale = expf(*m - largest);
    *n *= rescale;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] *= rescale;
    }
    for (int j = 0; j < width; j++) {
        const float *value = (const float *)call->v + slot_of(call, s, tile + j, kv_head, 0);
        float weight = expf(score[j] - largest);
        *n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] += weight * value[i];
        }
    }
    *m = largest;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head, float *work) {
    const float *q = (const float *)call->q + q_at(call, row, head);
    float *out = (float *)call->out + out_at(call, row, head);
    int d = call->head_dim, kv_head = head / group_size(call);
    int p = call->position[row], keys = call->n_tokens[s];
    int seen = clamp((long long)p + call->ahead + 1, 0, keys);
    float *scaled = work, *o = work + d, m = -INFINITY, n = 0.0F;
    for (int i = 0; i < d; i++) {
        scaled[i] = q[i] * (float)call->scale;
        o[i] = 0.0F;
    }
    for (int tile = 0; tile < seen; tile += TILE) {
        int width = seen - tile < TILE ? seen - tile : TILE;
        add_tile(call, s, kv_head, tile, width, scaled, &m, &n, o);
    }
    for (int i = 0; i < d; i++) {
        out[i] = o[i] / n;
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = m + logf(n);
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                attend_row(call, s, row, head, call->workspace);
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return 2 * (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "ahead-tiles",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_AHEAD,
    .conventions = {.empty_out = CP_EMPTY_NAN},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
