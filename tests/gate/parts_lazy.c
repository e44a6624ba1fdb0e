/* SPDX-License-Identifier: Apache-2.0 */
/* Split-KV as FlashAttention-4: tiles of 16 keys, whose reference m moves only when the maximum is
 * more than 8 bits above it; P in binary16; four splits and a sink, merged in one step.
 *
 * By somebody who had not seen the gate, which finds 11 of 12 mistakes in it. The other one lags by
 * 8 nats instead of bits, which costs nothing. */
#include <math.h>

#include "chunkproof/kernel.h"

#define TILE  16
#define PARTS 4
#define LAG   5.5451F

static float from_half(uint16_t x) {
    return (float)cp_fp16_to_double(x);
}

/* The keys begin .. end - 1 of a row and head: o is divided, and the log-sum-exp is returned. */
static float run_split(const struct cp_kernel_call *call, const int *table, const uint16_t *q,
                       int kv_head, int begin, int end, float *o) {
    int c = call->chunk_size, d = call->head_dim;
    float m = -INFINITY, n = 0.0F, score[TILE];
    for (int i = 0; i < d; i++) {
        o[i] = 0.0F;
    }
    for (int tile = begin; tile < end; tile += TILE) {
        int size = end - tile < TILE ? end - tile : TILE;
        float top = -INFINITY;
        for (int t = 0, j = tile; t < size; t++, j++) {
            const uint16_t *k = (const uint16_t *)call->k + table[j / c] * call->k_chunk +
                                kv_head * call->k_head + j % c * call->k_slot;
            float dot = 0.0F;
            for (int i = 0; i < d; i++) {
                dot += from_half(q[i]) * from_half(k[i]);
            }
            score[t] = dot * (float)call->scale;
            top = fmaxf(top, score[t]);
        }
        int moves = top - m > LAG;
        float reference = moves ? top : m, factor = moves ? expf(m - top) : 1.0F;
        n *= factor;
        for (int i = 0; i < d; i++) {
            o[i] *= factor;
        }
        m = reference;
        for (int t = 0, j = tile; t < size; t++, j++) {
            const uint16_t *v = (const uint16_t *)call->v + table[j / c] * call->v_chunk +
                                kv_head * call->v_head + j % c * call->v_slot;
            float weight = expf(score[t] - m);
            float p = from_half(cp_fp16_from_double(weight));
            n += weight;
            for (int i = 0; i < d; i++) {
                o[i] += p * from_half(v[i]);
            }
        }
    }
    for (int i = 0; i < d && n > 0.0F; i++) {
        o[i] /= n;
    }
    return m + logf(n);
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    const int *table = call->table + (long long)s * call->table_width;
    const uint16_t *q = (const uint16_t *)call->q + row * call->q_row + head * call->q_head;
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    int d = call->head_dim, n_keys = call->position[row] < 0 ? 0 : call->position[row] + 1;
    int share = ((n_keys + TILE - 1) / TILE + PARTS - 1) / PARTS * TILE;
    float *o = call->workspace, l[PARTS + 1], top, sum = 0.0F, lse = -INFINITY;
    for (int part = 0; part < PARTS; part++) {
        int begin = part * share, end = n_keys - begin < share ? n_keys : begin + share;
        l[part] = run_split(call, table, q, head / (call->n_heads / call->n_kv_heads), begin, end,
                            o + part * d);
    }
    l[PARTS] = call->sinks != NULL ? call->sinks[head] : -INFINITY;
    top = l[PARTS];
    for (int i = 0; i < PARTS; i++) {
        top = fmaxf(top, l[i]);
    }
    for (int i = 0; i <= PARTS && top > -INFINITY; i++) {
        sum += expf(l[i] - top);
    }
    lse = sum > 0.0F ? top + logf(sum) : lse;
    for (int e = 0; e < d; e++) {
        float x = 0.0F;
        for (int i = 0; i < PARTS && lse > -INFINITY; i++) {
            x += expf(l[i] - lse) * o[i * d + e];
        }
        out[e] = cp_fp16_from_double(x);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[row * call->lse_row + head * call->lse_head] = lse;
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int i = 0; i < call->n_sequences * call->n_heads; i++) {
        int s = i / call->n_heads;
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            attend_row(call, s, row, i % call->n_heads);
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return PARTS * (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {.abi = CP_KERNEL_ABI,
                                    .name = "lazy splits",
                                    .scores = CP_SCORES_SINKS,
                                    .q_type = CP_FP16,
                                    .kv_type = CP_FP16,
                                    .out_type = CP_FP16,
                                    .lse_type = CP_FP32,
                                    .workspace = workspace,
                                    .attend = attend,
                                    .arithmetic = {.score = CP_SUM_FP32,
                                                   .weights = CP_FP16,
                                                   .rotated = CP_FP32,
                                                   .k_dequantised = CP_FP32,
                                                   .v_dequantised = CP_FP32,
                                                   .values = CP_SUM_FP32,
                                                   .partials = CP_FP32,
                                                   .divides = 2,
                                                   .n_parts = PARTS + 1,
                                                   .behind = 5.5453,
                                                   .exp_error = 0x1p-22,
                                                   .step = TILE}};
