/* SPDX-License-Identifier: Apache-2.0 */
/* As in split-K decoding: a row's keys are cut into two halves. Each half is processed in tiles
 * and divided by its n at once, so that it is kept as o / n and its log-sum-exp. The two are
 * merged at the end. bfloat16 in and out. */
#include <math.h>

#include "kernel_util.h"

#define TILE 8

/* The workspace: o of the halves, [2][d] floats. */
static size_t workspace(const struct cp_kernel_call *call) {
    return 2 * (size_t)call->head_dim * sizeof(float);
}

/* Where a row's keys are: of one sequence and K/V head. */
struct keys {
    int s, kv_head;
    long long q;
};

static float score_of(const struct cp_kernel_call *call, const struct keys *keys, int j) {
    long long k = k_at(call, chunk_of(call, keys->s, j), keys->kv_head, j % call->chunk_size);
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_BF16, keys->q + i) * load(call->k, CP_BF16, k + i);
    }
    return dot * (float)call->scale;
}

static void add_value(const struct cp_kernel_call *call, const struct keys *keys, int j,
                      float weight, float *o) {
    long long v = v_at(call, chunk_of(call, keys->s, j), keys->kv_head, j % call->chunk_size);
    for (int i = 0; i < call->head_dim; i++) {
        o[i] += weight * load(call->v, CP_BF16, v + i);
    }
}

static void multiply(float *o, float factor, int d) {
    for (int i = 0; i < d; i++) {
        o[i] *= factor;
    }
}

/* Keys begin .. end-1: o / n to o, their log-sum-exp is returned; zeros and -infinity for no
 * key. */
static float attend_half(const struct cp_kernel_call *call, const struct keys *keys, int begin,
                         int end, float *o) {
    float m = -INFINITY, n = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = 0.0F;
    }
    for (int first = begin; first < end;) {
        int n_keys = end - first < TILE ? end - first : TILE;
        float score[TILE], before = m;
        for (int t = 0; t < n_keys; t++) {
            score[t] = score_of(call, keys, first + t);
            m = fmaxf(m, score[t]);
        }
        multiply(o, expf(before - m), call->head_dim);
        n *= expf(before - m);
        for (int t = 0; t < n_keys; t++) {
            float weight = expf(score[t] - m);
            n += weight;
            add_value(call, keys, first + t, weight, o);
        }
        first += n_keys;
    }
    for (int i = 0; i < call->head_dim && n != 0.0F; i++) {
        o[i] /= n;
    }
    return n != 0.0F ? m + logf(n) : -INFINITY;
}

/* The second half into the first; returns the log-sum-exp of both. Each has a key. */
static float merge(float *o, const float *other, float lse, float other_lse, int d) {
    float m = fmaxf(lse, other_lse), x = expf(lse - m), y = expf(other_lse - m), n = x + y;
    for (int i = 0; i < d; i++) {
        o[i] = (o[i] * x + other[i] * y) / n;
    }
    return m + logf(n);
}

/* The first half is whole tiles, so that there are no more tiles than without halves. */
static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    struct keys keys = {s, head / group_size(call), q_at(call, row, head)};
    int n_keys = keys_seen(call, s, row), n_tiles = n_keys / TILE + (n_keys % TILE > 0);
    int half = n_tiles > 1 ? n_tiles / 2 * TILE : n_keys;
    float *o = call->workspace, *other = o + call->head_dim;
    float lse = attend_half(call, &keys, 0, half, o);
    if (half < n_keys) {
        float other_lse = attend_half(call, &keys, half, n_keys, other);
        lse = merge(o, other, lse, other_lse, call->head_dim);
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_BF16, out_at(call, row, head) + i, o[i]);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = lse;
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = call->n_sequences - 1; s >= 0; s--) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                attend_row(call, s, row, head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "bfloat",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .exp_error = EXPF_ERROR,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
