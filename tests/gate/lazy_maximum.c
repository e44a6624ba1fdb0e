/* SPDX-License-Identifier: Apache-2.0 */
/* Rescales only when the maximum has grown by more than 8 bits, as FlashAttention-4 does (NUM-21):
 * a weight may be as large as 2^8, and its reference is that much below the maximum at most. Tiles
 * of 16 keys within a chunk, scores in bits, P in binary16. */
#include <math.h>

#include "kernel_util.h"

#define TILE   16
#define LAZY   8.0F
#define BEHIND 0x1.62E43p+2 /* 8 ln 2, in nats, rounded up */
#define LOG2_E 0x1.715476p0F

/* m, n and o of the keys so far; m is in bits. */
struct state {
    float m, n, *o;
};

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

static float half(float x) {
    return (float)cp_fp16_to_double(cp_fp16_from_double(x));
}

static float score_of(const struct cp_kernel_call *call, long long q, long long k) {
    float sum = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        sum += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    return sum * (float)call->scale * LOG2_E;
}

/* The reference follows the maximum of a tile where that is far above. */
static void follow(struct state *s, float largest, int d) {
    if (largest - s->m > LAZY) {
        float factor = exp2f(s->m - largest);
        s->n *= factor;
        for (int i = 0; i < d; i++) {
            s->o[i] *= factor;
        }
        s->m = largest;
    }
}

/* `count` keys of a chunk, from slot `first` on. */
static void add_tile(const struct cp_kernel_call *call, long long q, int chunk, int kv_head,
                     int first, int count, struct state *s) {
    float score[TILE], largest = -INFINITY;
    for (int t = 0; t < count; t++) {
        score[t] = score_of(call, q, k_at(call, chunk, kv_head, first + t));
        largest = fmaxf(largest, score[t]);
    }
    follow(s, largest, call->head_dim);
    for (int t = 0; t < count; t++) {
        float p = exp2f(score[t] - s->m);
        long long v = v_at(call, chunk, kv_head, first + t);
        s->n += p;
        p = half(p);
        for (int i = 0; i < call->head_dim; i++) {
            s->o[i] += p * load(call->v, CP_FP16, v + i);
        }
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int n_keys = keys_seen(call, s, row), kv_head = head / group_size(call), c = call->chunk_size;
    struct state state = {-INFINITY, 0.0F, call->workspace};
    memset(state.o, 0, (size_t)call->head_dim * sizeof *state.o);
    for (int j = 0, count; j < n_keys; j += count) {
        int in_chunk = c - j % c, left = n_keys - j;
        count = in_chunk < TILE ? in_chunk : TILE;
        count = left < count ? left : count;
        add_tile(call, q_at(call, row, head), chunk_of(call, s, j), kv_head, j % c, count, &state);
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i,
              n_keys > 0 ? state.o[i] / state.n : 0.0F);
    }
    if (call->lse != NULL) {
        float lse = n_keys > 0 ? (state.m + log2f(state.n)) / LOG2_E : -INFINITY;
        store(call->lse, CP_FP32, lse_at(call, row, head), lse);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "lazy-maximum",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = EXPF_ERROR,
                   .behind = BEHIND,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
