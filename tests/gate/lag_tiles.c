/* SPDX-License-Identifier: Apache-2.0 */
/* Attention with a lazy reference, as FlashAttention-4 has it: tiles of 32 keys, scores in bits. o
 * and n are rescaled only when a tile's maximum exceeds the reference m by more than 8 bits. */
#include <math.h>

#include "chunkproof/kernel.h"
#include "chunkproof/number.h"

#define TILE   32
#define MOST_D 512
#define LOG2E  1.4426950408889634
#define LN2    0.69314718F

#define LAZY 8.0F

struct state {
    float m, n;                /* the reference, in bits, and the sum of weights */
    float largest, last, late; /* faults of this kernel use them */
    float o[MOST_D];
};

static size_t key_at(const struct cp_kernel_call *call, int s, int j, long long chunk,
                     long long slot) {
    int page = call->table[(size_t)s * (size_t)call->table_width + (size_t)(j / call->chunk_size)];
    return (size_t)(page * chunk + j % call->chunk_size * slot);
}

static float dot(const float *q, const uint16_t *k, int d) {
    float sum = 0;
    for (int i = 0; i < d; i++) {
        sum += q[i] * (float)cp_fp16_to_double(k[i]);
    }
    return sum;
}

/* Adds a tile of `keys` keys with the scores t and the values v. */
static void add_tile(struct state *st, const float *t, const uint16_t **v, int keys, int d) {
    float top = -INFINITY;
    for (int j = 0; j < keys; j++) {
        top = fmaxf(top, t[j]);
    }
    float old = st->m;
    float rise = top - old;
    float m = rise > LAZY ? top : old;
    float factor = exp2f(old - m);
    float for_o = factor;
    if (m != old || for_o != 1) {
        st->n *= factor;
        for (int i = 0; i < d; i++) {
            st->o[i] *= for_o;
        }
    }
    st->m = m;
    st->last = top;
    st->largest = fmaxf(st->largest, top);
    for (int j = 0; j < keys; j++) {
        float p = exp2f(t[j] - m);
        st->n += p;
        float rounded = (float)cp_fp16_to_double(cp_fp16_from_double(p));
        for (int i = 0; i < d; i++) {
            st->o[i] += rounded * (float)cp_fp16_to_double(v[j][i]);
        }
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int r, int a) {
    int d = call->head_dim, kv = a / (call->n_heads / call->n_kv_heads);
    const uint16_t *q16 = (const uint16_t *)call->q + r * call->q_row + a * call->q_head;
    const uint16_t *k = (const uint16_t *)call->k + kv * call->k_head;
    const uint16_t *v = (const uint16_t *)call->v + kv * call->v_head;
    float q[MOST_D], scale = (float)(call->scale * LOG2E);
    for (int i = 0; i < d; i++) {
        q[i] = (float)cp_fp16_to_double(q16[i]);
    }
    struct state st = {.m = -INFINITY, .largest = -INFINITY, .last = -INFINITY, .late = 1};
    int seen = call->position[r] + 1;
    for (int from = 0; from < seen; from += TILE) {
        int keys = seen - from < TILE ? seen - from : TILE;
        float t[TILE];
        const uint16_t *values[TILE];
        for (int j = 0; j < keys; j++) {
            t[j] = dot(q, k + key_at(call, s, from + j, call->k_chunk, call->k_slot), d) * scale;
            values[j] = v + key_at(call, s, from + j, call->v_chunk, call->v_slot);
        }
        add_tile(&st, t, values, keys, d);
    }
    uint16_t *out = (uint16_t *)call->out + r * call->out_row + a * call->out_head;
    for (int i = 0; i < d; i++) {
        out[i] = cp_fp16_from_double(seen > 0 ? (double)(st.o[i] / st.n) : 0);
    }
    if (!call->lse) {
        return;
    }
    float reference = st.m;
    float *lse = (float *)call->lse + r * call->lse_row + a * call->lse_head;
    *lse = seen > 0 ? (reference + log2f(st.n)) * LN2 : -INFINITY;
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int r = call->query_begin[s]; r < call->query_begin[s + 1]; r++) {
            for (int a = 0; a < call->n_heads; a++) {
                attend_row(call, s, r, a);
            }
        }
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *call) {
    return call->head_dim > MOST_D ? "heads wider than 512" : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "lag_tiles",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .rounded_sum = 0,
                   .factors = CP_FACTORS_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .behind = 5.5452,
                   .step = TILE},
    .refuses = refuses,
    .attend = attend,
};
