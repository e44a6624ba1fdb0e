/* SPDX-License-Identifier: Apache-2.0 */
/* Attention in bits whose reference is the maximum rounded up to a whole number of bits, so that
 * each rescale is an exact power of two. Tiles of 16 keys, bfloat16. */
#include <math.h>
#include <string.h>

#include "chunkproof/kernel.h"
#include "chunkproof/number.h"

#define TILE   16
#define MOST_D 512
#define LOG2E  1.4426950408889634

struct state {
    float m, n;    /* the reference, a whole number of bits, and the sum of weights */
    float largest; /* of all scores: faults of this kernel use it */
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
        sum += q[i] * (float)cp_bf16_to_double(k[i]);
    }
    return sum;
}

static float round_up(float top) {
    return ceilf(top);
}

/* x 2^(old - new), exactly */
static float rescaled(float x, int old, int new) {
    return ldexpf(x, old - new);
}

static void add_tile(struct state *st, const float *t, const uint16_t **v, int keys, int d) {
    float top = -INFINITY;
    for (int j = 0; j < keys; j++) {
        top = fmaxf(top, t[j]);
    }
    float old = st->m, m = fmaxf(old, round_up(top));
    int first = old == -INFINITY;
    if (m != old && !first) {
        int from = (int)old, to = (int)m;
        st->n = rescaled(st->n, from, to);
        for (int i = 0; i < d; i++) {
            st->o[i] = rescaled(st->o[i], from, to);
        }
    }
    st->m = m;
    st->largest = fmaxf(st->largest, top);
    for (int j = 0; j < keys; j++) {
        float p = (float)cp_bf16_to_double(cp_bf16_from_double((double)exp2f(t[j] - m)));
        st->n += p;
        for (int i = 0; i < d; i++) {
            st->o[i] += p * (float)cp_bf16_to_double(v[j][i]);
        }
    }
}

static int attend(const struct cp_kernel_call *call) {
    int d = call->head_dim, group = call->n_heads / call->n_kv_heads, h = call->n_heads;
    float scale = (float)(call->scale * LOG2E);
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s] * h; row < call->query_begin[s + 1] * h; row++) {
            int r = row / h, a = row % h, seen = call->position[r] + 1;
            const uint16_t *q16 = (const uint16_t *)call->q + r * call->q_row + a * call->q_head;
            const uint16_t *k = (const uint16_t *)call->k + a / group * call->k_head;
            const uint16_t *v = (const uint16_t *)call->v + a / group * call->v_head;
            float q[MOST_D];
            for (int i = 0; i < d; i++) {
                q[i] = (float)cp_bf16_to_double(q16[i]);
            }
            struct state st = {.m = -INFINITY, .largest = -INFINITY};
            for (int from = 0; from < seen; from += TILE) {
                int keys = seen - from < TILE ? seen - from : TILE;
                float t[TILE];
                const uint16_t *values[TILE];
                for (int j = 0; j < keys; j++) {
                    size_t at = key_at(call, s, from + j, call->k_chunk, call->k_slot);
                    t[j] = dot(q, k + at, d) * scale;
                    values[j] = v + key_at(call, s, from + j, call->v_chunk, call->v_slot);
                }
                add_tile(&st, t, values, keys, d);
            }
            uint16_t *out = (uint16_t *)call->out + r * call->out_row + a * call->out_head;
            for (int i = 0; i < d; i++) {
                out[i] = cp_bf16_from_double(seen > 0 ? (double)(st.o[i] / st.n) : 0);
            }
            float reference = st.m;
            if (call->lse) {
                ((float *)call->lse)[r * call->lse_row + a * call->lse_head] =
                    seen > 0 ? reference + log2f(st.n) : -INFINITY;
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
    .name = "lag_rounded",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .conventions = {.lse_base = CP_LSE_BITS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .rounded_sum = 1,
                   .factors = CP_FACTORS_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .above = 0.6932,
                   .step = TILE},
    .refuses = refuses,
    .attend = attend,
};
