/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding by partitions of 64 positions with a sliding window, as vLLM's paged attention v2 has
 * them of 512, in bits. Each is divided by n + 1e-6, and merged into (out, l) by log-sum-exps.
 *
 * By somebody who had not seen the gate, which finds 11 of 14 mistakes in it. The other three are
 * near the right numbers: partitions of 16 for 64, and an epsilon of each key, or of a merge. */
#include <math.h>

#include "chunkproof/kernel.h"

#define PART    64
#define EPSILON 1e-6F

static float from_bf16(uint16_t x) {
    return (float)cp_bf16_to_double(x);
}

/* The keys at begin .. end - 1 of a row and head: o / (n + epsilon) in o, and l in bits. */
static float run_partition(const struct cp_kernel_call *call, const int *table, const uint16_t *q,
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
            dot += from_bf16(q[i]) * from_bf16(k[i]);
        }
        float score = dot * (float)(call->scale * 1.4426950408889634), top = fmaxf(m, score);
        float factor = exp2f(m - top), weight = exp2f(score - top);
        for (int i = 0; i < d; i++) {
            o[i] = o[i] * factor + weight * from_bf16(v[i]);
        }
        n = n * factor + weight;
        m = top;
    }
    for (int i = 0; i < d; i++) {
        o[i] = o[i] / (n + EPSILON);
    }
    return m + log2f(n);
}

/* Merges the partition (x, b) into (o, *a), and divides by no sum. */
static void merge(float *o, float *a, const float *x, float b, int d) {
    float top = fmaxf(*a, b), sum = exp2f(*a - top) + exp2f(b - top);
    float l = top + log2f(sum);
    float old = exp2f(*a - l), new = exp2f(b - l);
    for (int i = 0; i < d; i++) {
        o[i] = o[i] * old + x[i] * new;
    }
    *a = l;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    const int *table = call->table + (long long)s * call->table_width;
    const uint16_t *q = (const uint16_t *)call->q + row * call->q_row + head * call->q_head;
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    int d = call->head_dim, end = call->position[row] < 0 ? 0 : call->position[row] + 1;
    int first = call->window > 0 && end > call->window ? end - call->window : 0;
    float *o = call->workspace, *x = o + d, l = -INFINITY;
    for (int i = 0; i < d; i++) {
        o[i] = 0.0F;
    }
    for (int p = first / PART; p * PART < end; p++) {
        int last = (p + 1) * PART < end ? (p + 1) * PART : end;
        int begin = p * PART > first ? p * PART : first;
        float b = run_partition(call, table, q, head / (call->n_heads / call->n_kv_heads), begin,
                                last, x);
        merge(o, &l, x, b, d);
    }
    for (int i = 0; i < d; i++) {
        out[i] = cp_bf16_from_double(o[i]);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[row * call->lse_row + head * call->lse_head] = l;
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
    return 2 * (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {.abi = CP_KERNEL_ABI,
                                    .name = "partitions of 64",
                                    .masks = CP_MASKS_WINDOW,
                                    .q_type = CP_BF16,
                                    .kv_type = CP_BF16,
                                    .out_type = CP_BF16,
                                    .lse_type = CP_FP32,
                                    .conventions = {.lse_base = CP_LSE_BITS},
                                    .workspace = workspace,
                                    .attend = attend,
                                    .arithmetic = {.score = CP_SUM_FP32,
                                                   .weights = CP_FP32,
                                                   .rotated = CP_FP32,
                                                   .k_dequantised = CP_FP32,
                                                   .v_dequantised = CP_FP32,
                                                   .values = CP_SUM_FP32,
                                                   .partials = CP_FP32,
                                                   .divides = 2,
                                                   .part_keys = 64,
                                                   .in_bits = 1,
                                                   .exp_error = 0x1p-22,
                                                   .epsilon = 1e-6,
                                                   .step = 1}};
