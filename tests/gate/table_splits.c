/* SPDX-License-Identifier: Apache-2.0 */
/* Split-KV with a cap, a table of biases and sinks, over lists of modules: bfloat16, four splits
 * that are merged in one step.
 *
 * By somebody who had not seen the gate, which found 32 of 33 mistakes in it. The other one, an
 * index of 16 bits, showed that a gap has to wrap to a near distance. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/kernel.h"

#define STEP   8
#define SPLITS 4
#define MAX_D  512
#define LOG2E  1.4426950408889634F
#define LN2    0.6931471805599453F

static float bf16_of(uint16_t x) {
    uint32_t bits = (uint32_t)x << 16;
    float y;
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
    int s, r, a;   /* sequence, row, query head */
    int p, t;      /* positions of row and key */
    int run, slot; /* of the key */
    int chunk,
        number;      /* physical chunk; how many keys of the sequence come before, in table order */
    int split_begin; /* position of the first key of the split's first run */
    int split_keys;  /* keys of the split's runs */
    int split_first; /* first run of the split */
};

/* The bias of one key, in bits. */
static float bias2(const struct cp_kernel_call *call, const struct where *w) {
    int n = call->n_biases;
    int own = call->own_bias;
    int p = w->p;
    int t = w->t;
    int i;
    int g = call->n_heads / call->n_kv_heads;
    long long a = w->a;
    long long stride = n;
    (void)g;
    if (!call->biases) {
        return 0.0F;
    }
    i = least(most(own + p - t, 0), n - 1);
    return call->biases[a * stride + i] * LOG2E;
}

struct part {
    float m, n, o[MAX_D];
};

static void add_run(const struct cp_kernel_call *call, struct where w, const float *q,
                    struct part *part) {
    size_t at = (size_t)w.s * (size_t)call->table_width + (size_t)w.run;
    int n_tokens = call->table_tokens[at];
    int begin = call->table_position[at];
    int tile;
    int j;
    int i;
    int d = call->head_dim;
    int kv = w.a / (call->n_heads / call->n_kv_heads);
    int number = w.number;
    float scale2 = (float)(call->scale * 1.4426950408889634);
    float inside = call->cap > 0.0 ? (float)(call->scale / call->cap) : 0.0F;
    float cap2 = (float)(call->cap * 1.4426950408889634);
    w.chunk = call->table[at];
    for (tile = 0; tile < n_tokens; tile += STEP) {
        int last = least(tile + STEP, n_tokens);
        float s[STEP];
        float top = part->m;
        float change;
        for (j = tile; j < last; j++) {
            const uint16_t *key = (const uint16_t *)call->k + w.chunk * call->k_chunk +
                                  kv * call->k_head + j * call->k_slot;
            float dot = 0.0F;
            float b;
            float x;
            s[j - tile] = -INFINITY;
            w.t = begin + j;
            w.slot = j;
            w.number = number + j;
            if (w.t > w.p + call->ahead ||
                (call->window && w.t <= w.p - call->window && w.t >= call->kept)) {
                continue;
            }
            for (i = 0; i < d; i++) {
                dot += q[i] * bf16_of(key[i]);
            }
            b = bias2(call, &w);
            if (call->cap > 0.0) {
                x = cap2 * tanhf(dot * inside) + b;
            } else {
                x = dot * scale2 + b;
            }
            s[j - tile] = x;
            if (x > top) {
                top = x;
            }
        }
        if (top == -INFINITY) {
            continue;
        }
        change = exp2f(part->m - top);
        part->m = top;
        part->n *= change;
        for (i = 0; i < d; i++) {
            part->o[i] *= change;
        }
        for (j = tile; j < last; j++) {
            const uint16_t *value = (const uint16_t *)call->v + w.chunk * call->v_chunk +
                                    kv * call->v_head + j * call->v_slot;
            float weight;
            if (s[j - tile] == -INFINITY) {
                continue;
            }
            weight = exp2f(s[j - tile] - top);
            part->n += weight;
            for (i = 0; i < d; i++) {
                part->o[i] += weight * bf16_of(value[i]);
            }
        }
    }
}

static void row_head(const struct cp_kernel_call *call, struct where w) {
    static const struct part none = {.m = -INFINITY};
    struct part parts[SPLITS];
    float q[MAX_D];
    float l[SPLITS + 1];
    float top = -INFINITY;
    float sum = 0.0F;
    float weight[SPLITS + 1];
    int d = call->head_dim;
    int i;
    int x;
    int runs = 0;
    int each;
    int number = 0;
    const uint16_t *row = (const uint16_t *)call->q + w.r * call->q_row + w.a * call->q_head;
    const size_t base = (size_t)w.s * (size_t)call->table_width;
    float *out = (float *)call->out + w.r * call->out_row + w.a * call->out_head;
    for (i = 0; i < d; i++) {
        q[i] = bf16_of(row[i]);
    }
    w.p = call->position[w.r];
    while (runs < call->table_width && call->table[base + (size_t)runs] >= 0) {
        runs++;
    }
    each = (runs + SPLITS - 1) / SPLITS;
    for (x = 0; x < SPLITS; x++) {
        int from = least(x * each, runs);
        int to = least(from + each, runs);
        int j;
        parts[x] = none;
        w.split_first = from;
        w.split_begin = from < to ? call->table_position[base + (size_t)from] : 0;
        w.split_keys = 0;
        for (j = from; j < to; j++) {
            w.split_keys += call->table_tokens[base + (size_t)j];
        }
        for (w.run = from; w.run < to; w.run++) {
            w.number = number;
            add_run(call, w, q, &parts[x]);
            number += call->table_tokens[base + (size_t)w.run];
        }
        l[x] = parts[x].n > 0.0F ? parts[x].m + log2f(parts[x].n) : -INFINITY;
    }
    l[SPLITS] = call->sinks ? call->sinks[w.a] * LOG2E : -INFINITY;
    for (x = 0; x <= SPLITS; x++) {
        if (l[x] > top) {
            top = l[x];
        }
    }
    for (x = 0; x <= SPLITS; x++) {
        weight[x] = l[x] == -INFINITY ? 0.0F : exp2f(l[x] - top);
        sum += weight[x];
    }
    for (i = 0; i < d; i++) {
        float o = 0.0F;
        for (x = 0; x < SPLITS; x++) {
            if (weight[x] > 0.0F) {
                o += weight[x] * (parts[x].o[i] / parts[x].n);
            }
        }
        out[i] = sum > 0.0F ? o / sum : 0.0F;
    }
    if (call->lse) {
        ((float *)call->lse)[w.r * call->lse_row + w.a * call->lse_head] =
            sum > 0.0F ? (top + log2f(sum)) * LN2 : -INFINITY;
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
    .name = "table-splits",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .scores = CP_SCORES_CAP | CP_SCORES_BIASES | CP_SCORES_SINKS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .n_parts = SPLITS + 1,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .tanh_error = 0x1p-22,
                   .step = STEP},
    .refuses = refuses,
    .attend = attend,
};
