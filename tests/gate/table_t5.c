/* SPDX-License-Identifier: Apache-2.0 */
/* Paged attention with a table of biases as T5 has: binary16, tiles of 16 keys, an online softmax
 * in base 2, pages of the kernel's own.
 *
 * By somebody who had not seen the gate, which found 29 of 33 mistakes in it. Two more showed that
 * tables have to change when a case runs again, and to have biases far apart. One needs more than
 * 32767 keys, and one gives right numbers. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/kernel.h"

#define TILE  16
#define MAX_D 512
#define LOG2E 1.4426950408889634F
#define LN2   0.6931471805599453F

static float half_of(uint16_t x) {
    uint32_t sign = (uint32_t)(x & 0x8000) << 16;
    uint32_t e = x >> 10 & 31;
    uint32_t f = x & 1023;
    uint32_t bits;
    float y;
    if (e == 0) {
        y = (float)f * 0x1p-24F;
        return sign ? -y : y;
    }
    bits = sign | (e + 112) << 23 | f << 13;
    memcpy(&y, &bits, 4);
    return y;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

static int most(int a, int b) {
    return a > b ? a : b;
}

struct where {
    int s, r, a;   /* sequence, row of the call, query head */
    int p, t;      /* positions of row and key */
    int tile, end; /* first key of the tile; end of the keys that the row sees */
    int begin;     /* first key that the row sees */
};

/* The bias of one key, in bits. */
static float bias2(const struct cp_kernel_call *call, const struct where *w) {
    int n = call->n_biases;
    int own = call->own_bias;
    int p = w->p;
    int t = w->t;
    int i;
    long long a = w->a;
    long long stride = n;
    const float *biases = call->biases;
    if (!biases) {
        return 0.0F;
    }
    i = own + p - t;
    i = least(most(i, 0), n - 1);
    return biases[a * stride + i] * LOG2E;
}

static void row_head(const struct cp_kernel_call *call, struct where w) {
    int d = call->head_dim;
    int i;
    int j;
    int k;
    int kv = w.a / (call->n_heads / call->n_kv_heads);
    int n_tokens = call->n_tokens[w.s];
    int P = call->page_size;
    const int *pages = call->page_table + (size_t)w.s * (size_t)call->page_table_width;
    const uint16_t *q = (const uint16_t *)call->q + w.r * call->q_row + w.a * call->q_head;
    float scale2 = (float)(call->scale * 1.4426950408889634);
    float qf[MAX_D];
    float o[MAX_D];
    float m = -INFINITY;
    float n = 0.0F;
    float base;
    for (i = 0; i < d; i++) {
        qf[i] = half_of(q[i]);
        o[i] = 0.0F;
    }
    w.p = call->position[w.r];
    w.end = most(least(n_tokens, w.p + call->ahead + 1), 0);
    w.begin = call->window > 0 ? most(0, w.p - call->window + 1) : 0;
    for (w.tile = w.begin / TILE * TILE; w.tile < w.end; w.tile += TILE) {
        int first = most(w.tile, w.begin);
        int last = least(w.tile + TILE, w.end);
        float s[TILE];
        float top = m;
        float change;
        if (first >= last) {
            continue;
        }
        for (j = first; j < last; j++) {
            const uint16_t *key = (const uint16_t *)call->k + pages[j / P] * call->k_chunk +
                                  kv * call->k_head + j % P * call->k_slot;
            float dot = 0.0F;
            float b;
            for (i = 0; i < d; i++) {
                dot += qf[i] * half_of(key[i]);
            }
            w.t = j;
            b = bias2(call, &w);
            s[j - first] = dot * scale2;
            s[j - first] += b;
            if (s[j - first] > top) {
                top = s[j - first];
            }
        }
        change = exp2f(m - top);
        n *= change;
        for (i = 0; i < d; i++) {
            o[i] *= change;
        }
        m = top;
        for (k = first; k < last; k++) {
            const uint16_t *value = (const uint16_t *)call->v + pages[k / P] * call->v_chunk +
                                    kv * call->v_head + k % P * call->v_slot;
            float weight = exp2f(s[k - first] - m);
            n += weight;
            for (i = 0; i < d; i++) {
                o[i] += weight * half_of(value[i]);
            }
        }
    }
    base = m;
    for (i = 0; i < d; i++) {
        cp_number_store(call->out, CP_FP16,
                        (size_t)(w.r * call->out_row + w.a * call->out_head + i),
                        n > 0.0F ? o[i] / n : 0.0F);
    }
    if (call->lse) {
        ((float *)call->lse)[w.r * call->lse_row + w.a * call->lse_head] =
            n > 0.0F ? base * LN2 + logf(n) : -INFINITY;
    }
}

static int attend(const struct cp_kernel_call *call) {
    struct where w = {0};
    for (w.s = 0; w.s < call->n_sequences; w.s++) {
        for (w.r = call->query_begin[w.s]; w.r < call->query_begin[w.s + 1]; w.r++) {
            for (w.a = 0; w.a < call->n_heads; w.a++) {
                row_head(call, w);
            }
        }
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *call) {
    return call->head_dim > MAX_D ? "head_dim is above 512" : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "table-t5",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD,
    .scores = CP_SCORES_BIASES,
    .layout = {.pages = CP_PAGES_OWN, .page_unit = 1},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = TILE},
    .refuses = refuses,
    .attend = attend,
};
