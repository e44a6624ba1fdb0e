/* SPDX-License-Identifier: Apache-2.0 */
/* As a reduction of splits that adds in half precision: two numbers of d at once by HFMA2, weights
 * in binary16, exponentials ex2 of log2(e) times each maximum. Up to 64 splits, whose
 * outputs are not divided; the sums are, at the end. o as [row][part][head][d], out binary16.
 * Every row has a key: the last split is never empty in its engine. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "chunkproof/merge_kernel.h"

#define SPLITS 64
#define LOG2E  1.44269504088896340736F

static float of_half(uint16_t h) {
    float sign = h & 0x8000 ? -1.0F : 1.0F, f = (float)(h & 1023);
    int e = h >> 10 & 31;
    if (e == 31) {
        return f != 0.0F ? NAN : sign * INFINITY;
    }
    return sign * (e == 0 ? ldexpf(f, -24) : ldexpf(f + 1024.0F, e - 25));
}

static uint16_t half_of(float x) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    float a = fabsf(x);
    if (a != a) {
        return 0x7E00;
    }
    if (a >= 65520.0F) {
        return sign | 0x7C00;
    }
    if (a < 0x1p-14F) {
        return sign | (uint16_t)rintf(a * 0x1p24F);
    }
    int e;
    float f = frexpf(a, &e);
    return sign | (uint16_t)((e + 14) * 1024 + (int)rintf(f * 2048.0F) - 1024);
}

/* A product and an addition with one rounding, as HFMA2 does for each of its two numbers. */
static uint16_t fma_half(uint16_t a, uint16_t b, uint16_t c) {
    return half_of(fmaf(of_half(a), of_half(b), of_half(c)));
}

struct splits {
    float m[SPLITS], n[SPLITS], top, sum;
    uint16_t weight[SPLITS];
};

static void weigh(struct splits *x, int count) {
    x->top = -INFINITY;
    for (int i = 0; i < count; i++) {
        x->m[i] = x->n[i] > 0.0F ? x->m[i] * LOG2E : -INFINITY;
        x->top = fmaxf(x->top, x->m[i]);
    }
    x->sum = 0.0F;
    for (int i = 0; i < count; i++) {
        float factor = x->m[i] == -INFINITY ? 0.0F : exp2f(x->m[i] - x->top);
        x->weight[i] = half_of(factor);
        x->sum += factor * x->n[i];
    }
}

static void reduce(const struct cp_merge_call *call, int row, int head) {
    static struct splits x;
    long long l_at = row * call->l_row + head * call->l_head;
    int count = call->n_parts;
    for (int i = 0; i < count; i++) {
        x.m[i] = ((const float *)call->l)[i * call->l_part + l_at];
        x.n[i] = ((const float *)call->n)[i * call->l_part + l_at];
    }
    weigh(&x, count);
    const uint16_t *o = (const uint16_t *)call->o + row * call->o_row + head * call->o_head;
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    int d = call->head_dim;
    for (int i = 0; i < d; i++) {
        uint16_t acc = 0;
        for (int p = 0; p < count; p++) {
            int in = x.weight[p] != 0;
            acc = in ? fma_half(x.weight[p], o[p * call->o_part + i], acc) : acc;
        }
        out[i] = half_of(of_half(acc) / x.sum);
    }
    if (call->lse != NULL) {
        float *lse = (float *)call->lse + row * call->lse_row + head * call->lse_head;
        *lse = x.top / LOG2E + logf(x.sum);
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
    .name = "half2-splits",
    .o_type = CP_FP16,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .most_parts = SPLITS,
    .form = CP_FORM_UNDIVIDED,
    .empty_l = CP_EMPTY_L_ANY,
    .never = CP_NEVER_EMPTY_ROWS,
    .layout = {.o = CP_O_ORDER_ROW_PART},
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .converts = CP_CONVERTS_EACH,
                   .weights = CP_FP16,
                   .values = CP_FP16,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merge,
};
