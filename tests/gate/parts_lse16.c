/* SPDX-License-Identifier: Apache-2.0 */
/* Split-KV decoding in two passes, as FlashDecoding: each row and head has SPLITS splits of whole
 * chunks. Each is divided at once and kept as (o, l), l in binary16; then they are merged.
 *
 * By somebody who had not seen the gate, which finds 11 of 13 mistakes in it. The other two give
 * numbers of the class: 16 splits for 4, and an l that is cut off once. */
#include <math.h>

#include "chunkproof/kernel.h"

#define SPLITS 4

static float from_half(uint16_t x) {
    return (float)cp_fp16_to_double(x);
}

static uint16_t round_lse(float l) {
    uint16_t half = cp_fp16_from_double(l);
    return half;
}

/* The keys begin .. end - 1 of a row and head, one by one: o is divided, and l returned. */
static uint16_t run_split(const struct cp_kernel_call *call, const int *table, const uint16_t *q,
                          int kv_head, int begin, int end, float *o) {
    int c = call->chunk_size, d = call->head_dim;
    float m = -INFINITY, n = 0.0F;
    for (int i = 0; i < d; i++) {
        o[i] = 0.0F;
    }
    for (int j = begin; j < end; j++) {
        const uint16_t *k = (const uint16_t *)call->k + table[j / c] * call->k_chunk +
                            kv_head * call->k_head + j % c * call->k_slot;
        const uint16_t *v = (const uint16_t *)call->v + table[j / c] * call->v_chunk +
                            kv_head * call->v_head + j % c * call->v_slot;
        float dot = 0.0F;
        for (int i = 0; i < d; i++) {
            dot += from_half(q[i]) * from_half(k[i]);
        }
        float score = dot * (float)call->scale, top = fmaxf(m, score);
        float factor = expf(m - top), weight = expf(score - top);
        for (int i = 0; i < d; i++) {
            o[i] = o[i] * factor + weight * from_half(v[i]);
        }
        n = n * factor + weight;
        m = top;
    }
    for (int i = 0; i < d && n > 0.0F; i++) {
        o[i] /= n;
    }
    return round_lse(m + logf(n));
}

static void merge(const struct cp_kernel_call *call, int row, int head, const float *o,
                  const uint16_t *l) {
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    float top = -INFINITY, sum = 0.0F, weight[SPLITS];
    for (int i = 0; i < SPLITS; i++) {
        top = fmaxf(top, from_half(l[i]));
    }
    for (int i = 0; i < SPLITS; i++) {
        weight[i] = top > -INFINITY ? expf(from_half(l[i]) - top) : 0.0F;
        sum += weight[i];
    }
    for (int e = 0; e < call->head_dim; e++) {
        float x = 0.0F;
        for (int i = 0; i < SPLITS; i++) {
            x += weight[i] * o[i * call->head_dim + e];
        }
        out[e] = cp_fp16_from_double(sum > 0.0F ? x / sum : 0.0F);
    }
    if (call->lse != NULL) {
        float *lse = (float *)call->lse + row * call->lse_row + head * call->lse_head;
        *lse = top + logf(sum);
    }
}

static int attend(const struct cp_kernel_call *call) {
    int h = call->n_heads, d = call->head_dim, c = call->chunk_size;
    float *o = call->workspace;
    uint16_t *l = (uint16_t *)(o + (size_t)call->n_rows * (size_t)(h * SPLITS * d));
    for (int i = 0; i < call->n_sequences * h; i++) {
        int s = i / h, a = i % h;
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            const uint16_t *q = (const uint16_t *)call->q + row * call->q_row + a * call->q_head;
            int n_keys = call->position[row] < 0 ? 0 : call->position[row] + 1;
            int share = ((n_keys + c - 1) / c + SPLITS - 1) / SPLITS * c;
            size_t at = ((size_t)row * (size_t)h + (size_t)a) * SPLITS;
            for (int part = 0; part < SPLITS; part++, at++) {
                int begin = part * share, end = n_keys - begin < share ? n_keys : begin + share;
                l[at] = run_split(call, call->table + (long long)s * call->table_width, q,
                                  a / (h / call->n_kv_heads), begin, end, o + at * (size_t)d);
            }
            merge(call, row, a, o + (at - SPLITS) * (size_t)d, l + (at - SPLITS));
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->n_rows * (size_t)call->n_heads * SPLITS *
           ((size_t)call->head_dim * sizeof(float) + sizeof(uint16_t));
}

const struct cp_kernel cp_kernel = {.abi = CP_KERNEL_ABI,
                                    .name = "splits, l in binary16",
                                    .q_type = CP_FP16,
                                    .kv_type = CP_FP16,
                                    .out_type = CP_FP16,
                                    .lse_type = CP_FP32,
                                    .workspace = workspace,
                                    .attend = attend,
                                    .arithmetic = {.score = CP_SUM_FP32,
                                                   .weights = CP_FP32,
                                                   .rotated = CP_FP32,
                                                   .k_dequantised = CP_FP32,
                                                   .v_dequantised = CP_FP32,
                                                   .values = CP_SUM_FP32,
                                                   .partials = CP_FP32,
                                                   .divides = 1,
                                                   .part_lse = CP_PART_LSE_FP16,
                                                   .n_parts = 4,
                                                   .exp_error = 0x1p-22,
                                                   .step = 1}};
