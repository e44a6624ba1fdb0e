/* SPDX-License-Identifier: Apache-2.0 */
/* Split-KV: 4 splits of a sequence's tiles, each with a lazy reference of its own, in nats. The
 * undivided states (m, n, o) lie in the workspace, are merged into one, and are divided once. */
#include <math.h>

#include "chunkproof/kernel.h"
#include "chunkproof/number.h"

#define TILE   16
#define SPLITS 4
#define MOST_D 512

#define LAZY 5.0F

static size_t key_at(const struct cp_kernel_call *call, int s, int j, long long chunk,
                     long long slot) {
    int page = call->table[(size_t)s * (size_t)call->table_width + (size_t)(j / call->chunk_size)];
    return (size_t)(page * chunk + j % call->chunk_size * slot);
}

/* State i of row r and head a: m, n and d numbers of o. */
static float *state_of(const struct cp_kernel_call *call, int r, int a, int i) {
    size_t at = ((size_t)r * (size_t)call->n_heads + (size_t)a) * SPLITS + (size_t)i;
    return (float *)call->workspace + at * ((size_t)call->head_dim + 2);
}

/* The keys begin .. end - 1 of sequence s, into a state. */
static void run_split(const struct cp_kernel_call *call, int s, int r, int a, int begin, int end,
                      float *state) {
    int d = call->head_dim, kv = a / (call->n_heads / call->n_kv_heads);
    const uint16_t *q = (const uint16_t *)call->q + r * call->q_row + a * call->q_head;
    const uint16_t *k = (const uint16_t *)call->k + kv * call->k_head;
    const uint16_t *v = (const uint16_t *)call->v + kv * call->v_head;
    float m = -INFINITY, n = 0, largest = -INFINITY, stale = -INFINITY, *o = state + 2;
    for (int i = 0; i < d; i++) {
        o[i] = 0;
    }
    for (int from = begin; from < end; from += TILE) {
        int keys = end - from < TILE ? end - from : TILE;
        float t[TILE], top = -INFINITY;
        for (int j = 0; j < keys; j++) {
            const uint16_t *key = k + key_at(call, s, from + j, call->k_chunk, call->k_slot);
            float sum = 0;
            for (int i = 0; i < d; i++) {
                sum += (float)cp_fp16_to_double(q[i]) * (float)cp_fp16_to_double(key[i]);
            }
            t[j] = sum * (float)call->scale;
            top = fmaxf(top, t[j]);
        }
        stale = m;
        float rise = top - m;
        largest = fmaxf(largest, top);
        if (rise > LAZY) {
            float factor = expf(m - top);
            n *= factor;
            for (int i = 0; i < d; i++) {
                o[i] *= factor;
            }
            m = top;
        }
        for (int j = 0; j < keys; j++) {
            const uint16_t *value = v + key_at(call, s, from + j, call->v_chunk, call->v_slot);
            float p = expf(t[j] - m);
            n += p;
            for (int i = 0; i < d; i++) {
                o[i] += p * (float)cp_fp16_to_double(value[i]);
            }
        }
    }
    state[0] = m;
    state[1] = n;
    (void)stale, (void)largest;
}

static void merge(const struct cp_kernel_call *call, int r, int a) {
    int d = call->head_dim;
    float m = -INFINITY, n = 0, o[MOST_D] = {0};
    for (int i = 0; i < SPLITS; i++) {
        m = fmaxf(m, *state_of(call, r, a, i));
    }
    for (int i = 0; i < SPLITS; i++) {
        const float *state = state_of(call, r, a, i);
        if (state[0] == -INFINITY) {
            continue;
        }
        float factor = expf(state[0] - m);
        n += factor * state[1];
        for (int j = 0; j < d; j++) {
            o[j] += factor * state[2 + j];
        }
    }
    uint16_t *out = (uint16_t *)call->out + r * call->out_row + a * call->out_head;
    for (int i = 0; i < d; i++) {
        out[i] = cp_fp16_from_double(n > 0 ? (double)(o[i] / n) : 0);
    }
    if (call->lse) {
        ((float *)call->lse)[r * call->lse_row + a * call->lse_head] = m + logf(n);
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        int tiles = (call->n_tokens[s] + TILE - 1) / TILE;
        int length = (tiles + SPLITS - 1) / SPLITS * TILE;
        for (int r = call->query_begin[s]; r < call->query_begin[s + 1]; r++) {
            for (int a = 0; a < call->n_heads; a++) {
                int seen = call->position[r] + 1;
                for (int i = 0; i < SPLITS; i++) {
                    int end = (i + 1) * length < seen ? (i + 1) * length : seen;
                    run_split(call, s, r, a, i * length, end, state_of(call, r, a, i));
                }
                merge(call, r, a);
            }
        }
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *call) {
    return call->head_dim > MOST_D ? "heads wider than 512" : NULL;
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t states = (size_t)call->n_rows * (size_t)call->n_heads * SPLITS;
    return states * ((size_t)call->head_dim + 2) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "lag_splits",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .behind = 5.0001,
                   .step = TILE},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
