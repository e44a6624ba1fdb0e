/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache in E4M3 with one scale for K and one for V (CONV-10), on paged tables: the
 * scale of K is folded into that of the scores, and o is multiplied by that of V. All weights of a
 * row are kept, and divided by their sum before they meet V. bfloat16. By the author of
 * cache_tiles.c, who had not seen the gate. */
#include "cache_numbers.h"

#define EPSILON 1e-6F

/* Returns the largest score. */
static float fill_scores(const struct cp_kernel_call *call, int s, int row, int head,
                         float *score) {
    long long q = q_at(call, row, head);
    float scale = (float)call->scale * call->k_scales[0], largest = -INFINITY;
    for (int j = 0; j < keys_seen(call, s, row); j++) {
        const uint8_t *k =
            key_of(call, chunk_of(call, s, j), head / group_size(call), j % call->chunk_size);
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += load(call->q, CP_BF16, q + i) * from_e4m3(k[i]);
        }
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}

/* n scores become weights that sum to 1. */
static void normalise(float *score, int n, float largest) {
    float sum = 0.0F;
    for (int j = 0; j < n; j++) {
        score[j] = expf(score[j] - largest);
        sum += score[j];
    }
    float inverse = 1.0F / (sum + EPSILON);
    for (int j = 0; j < n; j++) {
        score[j] *= inverse;
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    float *o = call->workspace, *weight = o + call->head_dim, v_scale = call->v_scales[0];
    int n = keys_seen(call, s, row);
    normalise(weight, n, fill_scores(call, s, row, head, weight));
    memset(o, 0, (size_t)call->head_dim * sizeof *o);
    for (int j = 0; j < n; j++) {
        const uint8_t *v =
            value_of(call, chunk_of(call, s, j), head / group_size(call), j % call->chunk_size);
        for (int i = 0; i < call->head_dim; i++) {
            o[i] += weight[j] * from_e4m3(v[i]);
        }
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_BF16, out_at(call, row, head) + i, o[i] * v_scale);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t keys = (size_t)call->table_width * (size_t)call->chunk_size;
    return (keys + (size_t)call->head_dim) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-paged",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_NO_LSE,
    .cache = {.k = CP_CACHE_E4M3, .v = CP_CACHE_E4M3, .scales = CP_CACHE_SCALE_TENSOR},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .normalises = 1,
                   .exp_error = EXPF_ERROR,
                   .divide_error = 0x1.02p-24,
                   .epsilon = (double)EPSILON,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
