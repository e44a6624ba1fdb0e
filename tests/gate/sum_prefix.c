/* SPDX-License-Identifier: Apache-2.0 */
/* A shared prefix and the rest of a sequence, on a CPU: four numbers of d side by side in
 * vectors. Exactly two parts by sums, outputs in bfloat16, base 2; weights are divided, and rounded
 * to bfloat16, before they meet outputs, as in a product of matrices. The suffix has keys in some
 * rows only; what a part without keys has is finite. Always a log-sum-exp. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "chunkproof/merge_kernel.h"

#define WIDTH 4

typedef float vector __attribute__((vector_size(4 * WIDTH)));

static float of_bf16(uint16_t h) {
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint16_t bf16_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static vector load(const uint16_t *from, int count) {
    vector v = {0};
    for (int i = 0; i < count; i++) {
        v[i] = of_bf16(from[i]);
    }
    return v;
}

struct pair {
    float m[2], n[2], p[2], sum, top;
};

/* The weights of both parts, divided. */
static void weigh(struct pair *x) {
    for (int i = 0; i < 2; i++) {
        x->m[i] = x->n[i] > 0.0F ? x->m[i] : -INFINITY;
    }
    x->top = fmaxf(x->m[0], x->m[1]);
    x->sum = 0.0F;
    for (int i = 0; i < 2; i++) {
        float factor = x->m[i] == -INFINITY ? 0.0F : exp2f(x->m[i] - x->top);
        x->p[i] = factor * x->n[i];
        x->sum += x->p[i];
    }
}

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    struct pair x;
    long long l_at = row * call->l_row + head * call->l_head, part = call->l_part;
    x.m[1] = ((const float *)call->l)[l_at + part];
    x.n[1] = ((const float *)call->n)[l_at + part];
    x.m[0] = ((const float *)call->l)[l_at];
    x.n[0] = ((const float *)call->n)[l_at];
    weigh(&x);
    float w[2];
    for (int i = 0; i < 2; i++) {
        w[i] = x.sum > 0.0F ? of_bf16(bf16_of(x.p[i] / x.sum)) : 0.0F;
    }
    const uint16_t *o = (const uint16_t *)call->o + row * call->o_row + head * call->o_head;
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    for (int from = 0; from < call->head_dim; from += WIDTH) {
        int count = call->head_dim - from < WIDTH ? call->head_dim - from : WIDTH;
        vector a = load(o + from, count);
        vector b = load(o + call->o_part + from, count);
        vector y = a * w[0] + b * w[1];
        for (int t = 0; t < count; t++) {
            out[from + t] = bf16_of(y[t]);
        }
    }
    float *lse = (float *)call->lse + row * call->lse_row + head * call->lse_head;
    *lse = x.sum > 0.0F ? x.top + log2f(x.sum) : -INFINITY;
}

static int merge(const struct cp_merge_call *call) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            merge_row(call, row, head);
        }
    }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "prefix-suffix",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .lse = CP_LSE_ALWAYS,
    .least_parts = 2,
    .most_parts = 2,
    .form = CP_FORM_SUMS,
    .empty_l = CP_EMPTY_L_ANY,
    .empty_o = CP_EMPTY_O_NUMBERS,
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .converts = CP_CONVERTS_NONE,
                   .weights = CP_BF16,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merge,
};
