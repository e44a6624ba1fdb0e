/* SPDX-License-Identifier: Apache-2.0 */
/* As with additions in binary16 that are promoted (NUM-20): tiles of 16 keys; of P V 8 products are
 * added in binary16, each rounded first, and then these short sums in binary32. Scores and n are
 * sums of binary32. */
#include <math.h>

#include "kernel_util.h"

#define TILE     16
#define PRODUCTS 8 /* in a short sum */

/* A running state; the tile that is added to it next. */
struct running {
    float m, n;
    float *o;          /* [d] in the workspace */
    long long k[TILE]; /* where its keys and values are */
    long long v[TILE]; /* ... in K and V */
    float p[TILE];     /* scores, then weights */
    float half_p[TILE];
    int n_keys;
};

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

/* The nearest number of binary16. */
static float half(double x) {
    return (float)cp_fp16_to_double(cp_fp16_from_double(x));
}

/* One more product: of two numbers of binary16 it is exact in binary32, and so is a sum in
 * binary64. */
static float add_half(float sum, float a, float b) {
    return half((double)sum + half((double)(a * b)));
}

static void find_keys(const struct cp_kernel_call *call, struct running *r, int s, int first,
                      int kv_head) {
    for (int t = 0; t < r->n_keys; t++) {
        int chunk = chunk_of(call, s, first + t), slot = (first + t) % call->chunk_size;
        r->k[t] = k_at(call, chunk, kv_head, slot);
        r->v[t] = v_at(call, chunk, kv_head, slot);
    }
}

static float score_of(const struct cp_kernel_call *call, long long q, long long k) {
    float sum = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        sum += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    return sum * (float)call->scale;
}

/* A tile has a key, so that the new maximum is finite even where m is -infinity still. */
static void weigh(const struct cp_kernel_call *call, struct running *r, long long q) {
    float m = r->m, factor, n = 0.0F;
    for (int t = 0; t < r->n_keys; t++) {
        r->p[t] = score_of(call, q, r->k[t]);
        m = fmaxf(m, r->p[t]);
    }
    factor = expf(r->m - m);
    for (int t = 0; t < r->n_keys; t++) {
        r->p[t] = expf(r->p[t] - m);
        r->half_p[t] = half(r->p[t]);
        n += r->p[t];
    }
    r->n = r->n * factor + n;
    for (int i = 0; i < call->head_dim; i++) {
        r->o[i] *= factor;
    }
    r->m = m;
}

static void add_values(const struct cp_kernel_call *call, struct running *r) {
    for (int i = 0; i < call->head_dim; i++) {
        float part = 0.0F;
        int in_part = 0;
        for (int t = 0; t < r->n_keys; t++) {
            part = add_half(part, r->half_p[t], load(call->v, CP_FP16, r->v[t] + i));
            in_part++;
            if (in_part == PRODUCTS || t == r->n_keys - 1) {
                r->o[i] += part;
                part = 0.0F;
                in_part = 0;
            }
        }
    }
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
        weigh(call, &r, q_at(call, row, head));
        add_values(call, &r);
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out + i, r.n != 0.0F ? r.o[i] / r.n : 0.0F);
    }
    if (call->lse != NULL) {
        store(call->lse, CP_FP32, lse_at(call, row, head),
              n_keys > 0 ? r.m + logf(r.n) : -INFINITY);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "promoted-half",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP16,
                   .values_promotes = PRODUCTS,
                   .partials = CP_FP32,
                   .rounded_sum = 0,
                   .exp_error = EXPF_ERROR,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
