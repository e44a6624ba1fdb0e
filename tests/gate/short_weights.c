/* SPDX-License-Identifier: Apache-2.0 */
/* As on a tensor core: tiles of 16 keys, wherever the chunks of a path end, and P rounded to
 * binary16 before it is multiplied with V. n is the sum of P as it was before. */
#include <math.h>

#include "kernel_util.h"

#define TILE 16

/* A running state; the tile that is added to it next. */
struct running {
    float m, n;
    float *o;              /* [d] in the workspace */
    long long k[TILE];     /* where its keys and values are */
    long long v[TILE];     /* ... in K and V */
    float p[TILE];         /* scores, then weights, ... */
    float rounded_p[TILE]; /* ... then as they meet V */
    int n_keys;
};

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

static void find_keys(const struct cp_kernel_call *call, struct running *r, int s, int first,
                      int kv_head) {
    for (int t = 0; t < r->n_keys; t++) {
        int chunk = chunk_of(call, s, first + t), slot = (first + t) % call->chunk_size;
        r->k[t] = k_at(call, chunk, kv_head, slot);
        r->v[t] = v_at(call, chunk, kv_head, slot);
    }
}

static float score_tile(const struct cp_kernel_call *call, struct running *r, long long q) {
    float largest = -INFINITY;
    for (int t = 0; t < r->n_keys; t++) {
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, r->k[t] + i);
        }
        r->p[t] = dot * (float)call->scale;
        largest = fmaxf(largest, r->p[t]);
    }
    return largest;
}

/* A tile has a key, so that the new maximum is finite even where m is -infinity still. */
static void add_tile(const struct cp_kernel_call *call, struct running *r, long long q) {
    float m = fmaxf(r->m, score_tile(call, r, q)), factor = expf(r->m - m), n = 0.0F;
    for (int t = 0; t < r->n_keys; t++) {
        r->p[t] = expf(r->p[t] - m);
        r->rounded_p[t] = (float)cp_fp16_to_double(cp_fp16_from_double(r->p[t]));
        n += r->p[t];
    }
    r->n = r->n * factor + n;
    for (int i = 0; i < call->head_dim; i++) {
        float sum = 0.0F;
        for (int t = 0; t < r->n_keys; t++) {
            sum += r->rounded_p[t] * load(call->v, CP_FP16, r->v[t] + i);
        }
        r->o[i] = r->o[i] * factor + sum;
    }
    r->m = m;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int n_keys = keys_seen(call, s, row), kv_head = head / group_size(call);
    long long out = out_at(call, row, head);
    struct running r = {.m = -INFINITY, .n = 0.0F, .o = call->workspace};
    for (int i = 0; i < call->head_dim; i++) {
        r.o[i] = 0.0F;
    }
    for (int left = n_keys; left > 0; left -= r.n_keys) {
        r.n_keys = left < TILE ? left : TILE;
        find_keys(call, &r, s, n_keys - left, kv_head);
        add_tile(call, &r, q_at(call, row, head));
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out + i, r.n != 0.0F ? r.o[i] / r.n : 0.0F);
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int head = 0; head < call->n_heads; head++) {
            for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
                attend_row(call, s, row, head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "short-weights",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .rounded_sum = 0,
                   .exp_error = EXPF_ERROR,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
