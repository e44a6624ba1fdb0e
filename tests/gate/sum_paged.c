/* SPDX-License-Identifier: Apache-2.0 */
/* As the reduce kernel of paged attention v2: a block of 64 threads in two warps for each row and
 * head, emulated one after the other. Partitions give max_logits, exp_sums and divided outputs in
 * binary16; the row's weights lie in shared memory. Sums, natural base, equal partitions, an
 * epsilon in the divisor, out binary16. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "chunkproof/merge_kernel.h"

#define THREADS 64
#define WARP    32

static float of_half(uint16_t h) {
    uint32_t sign = (uint32_t)(h >> 15) << 31, e = h >> 10 & 31, f = h & 1023;
    if (e == 0) {
        return (sign != 0 ? -1.0F : 1.0F) * ldexpf((float)f, -24);
    }
    uint32_t bits = sign | (e == 31 ? 255U : e + 112U) << 23 | f << 13;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* To nearest, ties to even, as rintf() rounds. */
static uint16_t half_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    float a = fabsf(x);
    if (a != a) {
        return 0x7E00;
    }
    if (a < 0x1p-14F) {
        return sign | (uint16_t)rintf(a * 0x1p24F);
    }
    if (a >= 65520.0F) {
        return sign | 0x7C00;
    }
    int e;
    float f = frexpf(a, &e); /* a = f 2^e, with f from 1/2 to 1 */
    return sign | (uint16_t)((e + 14) * 1024 + (int)rintf(f * 2048.0F) - 1024);
}

/* A butterfly in each warp, then one value of each warp in shared memory. */
static float block_max(float *lane) {
    float shared[THREADS / WARP];
    for (int w = 0; w < THREADS / WARP; w++) {
        for (int step = WARP / 2; step > 0; step /= 2) {
            float next[WARP];
            for (int i = 0; i < WARP; i++) {
                next[i] = fmaxf(lane[w * WARP + i], lane[w * WARP + (i ^ step)]);
            }
            memcpy(lane + w * WARP, next, sizeof next);
        }
        shared[w] = lane[w * WARP];
    }
    return fmaxf(shared[0], shared[1]);
}

static float block_sum(float *lane) {
    float shared[THREADS / WARP] = {0.0F, 0.0F};
    for (int w = 0; w < THREADS / WARP; w++) {
        for (int step = WARP / 2; step > 0; step /= 2) {
            for (int i = 0; i < step; i++) {
                lane[w * WARP + i] += lane[w * WARP + i + step];
            }
        }
        shared[w] = lane[w * WARP];
    }
    return shared[0] + shared[1];
}

static float shared_sums[CP_MERGE_MOST_PARTS]; /* rescaled sums of the row */

static void reduce(const struct cp_merge_call *call, int row, int head) {
    long long l_at = row * call->l_row + head * call->l_head;
    const float *m = (const float *)call->l + l_at, *n = (const float *)call->n + l_at;
    long long n_part = call->l_part;
    const uint16_t *o = (const uint16_t *)call->o + row * call->o_row + head * call->o_head;
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    int parts = call->n_parts;
    float lane[THREADS];
    for (int t = 0; t < THREADS; t++) {
        lane[t] = -INFINITY;
        for (int i = t; i < parts; i += THREADS) {
            lane[t] = fmaxf(lane[t], n[i * n_part] > 0.0F ? m[i * call->l_part] : -INFINITY);
        }
    }
    float top = block_max(lane);
    for (int t = 0; t < THREADS; t++) {
        lane[t] = 0.0F;
        int last = parts;
        for (int i = t; i < last; i += THREADS) {
            shared_sums[i] =
                n[i * n_part] > 0.0F ? n[i * n_part] * expf(m[i * call->l_part] - top) : 0.0F;
            lane[t] += shared_sums[i];
        }
    }
    float sum = block_sum(lane);
    float inverse = 1.0F / (sum + 1e-6F);
    for (int i = 0; i < call->head_dim; i++) {
        float acc = 0.0F;
        for (int p = 0; p < parts; p++) {
            float w = shared_sums[p];
            acc += w > 0.0F ? of_half(o[p * call->o_part + i]) * w * inverse : 0.0F;
        }
        out[i] = half_of(acc);
    }
    if (call->lse != NULL) {
        float *lse = (float *)call->lse + row * call->lse_row + head * call->lse_head;
        *lse = sum > 0.0F ? top + logf(sum) : -INFINITY;
    }
}

static int merge(const struct cp_merge_call *call) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            reduce(call, row, head);
        }
    }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "paged-v2-reduce",
    .o_type = CP_FP16,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .form = CP_FORM_SUMS,
    .empty_l = CP_EMPTY_L_ANY,
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .converts = CP_CONVERTS_NONE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1.4p-20}, /* 10^-6 beside n >= 1, and two roundings */
    .merge = merge,
};
