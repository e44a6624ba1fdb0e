/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that merges the results of two parts, as an engine does with a shared prefix and the
 * rest of a sequence: a complete one, to be copied.
 *
 *     chunkproof gate --kernel tests/example/merge_kernel.c
 *
 * For each row and head, with the weights p and s of both parts for their larger log-sum-exp m:
 *
 *     out = (p / (p + s)) o_0 + (s / (p + s)) o_1        lse = m + ln(p + s) */
#include <math.h>

#include <chunkproof/merge_kernel.h>

static double o_of(const struct cp_merge_call *call, int row, int part, int head, int i) {
    long long at = part * call->o_part + row * call->o_row + head * call->o_head + i;
    return cp_fp16_to_double(((const uint16_t *)call->o)[at]);
}

static float l_of(const struct cp_merge_call *call, int row, int part, int head) {
    long long at = part * call->l_part + row * call->l_row + head * call->l_head;
    return ((const float *)call->l)[at];
}

/* A part without keys has the weight 0, and its output is not looked at: it may be a NaN. A row
 * without keys gets zeros, and a log-sum-exp of -infinity. */
static void merge_row(const struct cp_merge_call *call, int row, int head) {
    float a = l_of(call, row, 0, head), b = l_of(call, row, 1, head), m = fmaxf(a, b);
    int has_keys = m != -INFINITY;
    float p = has_keys ? expf(a - m) : 0.0F, s = has_keys ? expf(b - m) : 0.0F, n = p + s;
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    for (int i = 0; i < call->head_dim; i++) {
        float sum = 0.0F;
        sum += p > 0.0F ? p / n * (float)o_of(call, row, 0, head, i) : 0.0F;
        sum += s > 0.0F ? s / n * (float)o_of(call, row, 1, head, i) : 0.0F;
        out[i] = cp_fp16_from_double(sum);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[row * call->lse_row + head * call->lse_head] =
            has_keys ? m + logf(n) : -INFINITY;
    }
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
    .name = "two-parts",
    .o_type = CP_FP16,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .least_parts = 2,
    .most_parts = 2,
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .converts = CP_CONVERTS_NONE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,  /* of expf() */
                   .log_error = 0x1p-22,  /* of logf() */
                   .div_error = 0x1p-24}, /* a division that rounds to nearest */
    .merge = merge,
};
