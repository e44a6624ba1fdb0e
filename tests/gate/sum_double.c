/* SPDX-License-Identifier: Apache-2.0 */
/* As a CPU server combines the threads' slices of a sequence in binary64: two passes over slices,
 * weights divided before they meet values, d in blocks of 8 that a compiler turns into SIMD. Sums
 * of values that are not divided, binary32 in memory; maxima, sums and log-sum-exp in binary64,
 * base 2. A row without keys gives NaNs and a log-sum-exp of -1e30. */
#include <math.h>

#include "chunkproof/merge_kernel.h"

#define WIDTH   8
#define NO_KEYS (-1e30)

struct slices {
    const float *s;
    const double *m, *n;
    long long s_step, l_step;
    int count;
    double top, inverse, sum;
};

static double weight(const struct slices *x, int i) {
    double n = x->n[i * x->l_step];
    return n > 0.0 ? exp2(x->m[i * x->l_step] - x->top) : 0.0;
}

static void first_pass(struct slices *x) {
    x->top = -INFINITY;
    x->sum = 0.0;
    for (int i = 0; i < x->count; i++) {
        x->top = x->n[i * x->l_step] > 0.0 ? fmax(x->top, x->m[i * x->l_step]) : x->top;
    }
    for (int i = 0; i < x->count; i++) {
        x->sum += weight(x, i) * x->n[i * x->l_step];
    }
    x->inverse = x->sum > 0.0 ? 1.0 / x->sum : 0.0;
}

static void second_pass(const struct slices *x, float *out, int d) {
    int from = 0;
    for (; from < d; from += WIDTH) {
        double acc[WIDTH] = {0.0};
        int width = d - from < WIDTH ? d - from : WIDTH;
        for (int i = 0; i < x->count; i++) {
            double w = weight(x, i) * x->inverse;
            for (int t = 0; w > 0.0 && t < width; t++) {
                acc[t] += w * (double)x->s[i * x->s_step + from + t];
            }
        }
        for (int t = 0; t < width; t++) {
            out[from + t] = x->sum > 0.0 ? (float)acc[t] : NAN;
        }
    }
}

static void combine(const struct cp_merge_call *call, int row, int head) {
    long long l_at = row * call->l_row + head * call->l_head;
    struct slices x = {.s_step = call->o_part, .l_step = call->l_part, .count = call->n_parts};
    int from = head;
    x.s = (const float *)call->o + row * call->o_row + from * call->o_head;
    x.m = (const double *)call->l + l_at;
    x.n = (const double *)call->n + l_at;
    first_pass(&x);
    second_pass(&x, (float *)call->out + row * call->out_row + head * call->out_head,
                call->head_dim);
    if (call->lse != NULL) {
        double *lse = (double *)call->lse + row * call->lse_row + head * call->lse_head;
        *lse = x.sum > 0.0 ? x.top + log2(x.sum) : NO_KEYS;
    }
}

static int merge(const struct cp_merge_call *call) {
    int rows = call->n_rows;
    for (int row = 0; row < rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            combine(call, row, head);
        }
    }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "cpu-double",
    .o_type = CP_FP32,
    .l_type = CP_FP64,
    .base = CP_BASE_2,
    .form = CP_FORM_UNDIVIDED,
    .empty_l = CP_EMPTY_L_ANY,
    .empty_out = CP_EMPTY_NAN,
    .empty_lse = CP_EMPTY_VALUE,
    .empty_value = NO_KEYS,
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .converts = CP_CONVERTS_NONE,
                   .weights = CP_FP32,
                   .values = CP_FP64,
                   .partials = CP_FP32,
                   .out_type = CP_FP32,
                   .lse_type = CP_FP64,
                   .exp_error = 0x1p-51,
                   .log_error = 0x1p-51,
                   .div_error = 0x1.1p-52}, /* an inverse and a product */
    .merge = merge,
};
