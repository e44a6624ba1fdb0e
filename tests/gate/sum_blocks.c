/* SPDX-License-Identifier: Apache-2.0 */
/* As the multi-block reduction of a decode kernel that works in bits: the block that comes last
 * walks over the scratch of all blocks of the row, with a running maximum. Scratch keeps outputs
 * that are not divided, in bfloat16, and row maxima and row sums as [block][head][row]. Sums in
 * base 2, always a log-sum-exp, out bfloat16. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "chunkproof/merge_kernel.h"

#define MOST   256 /* blocks of a row */
#define LANES  32  /* a lane has every 32nd number of d in its registers */
#define MOST_D 2048

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

struct state {
    float m, n;
    float acc[MOST_D];
};

/* One block's scratch joins the running state. */
static void join(struct state *s, float m, float n, const uint16_t *o, int d) {
    int skip = !(n > 0.0F);
    if (skip) {
        return;
    }
    float top = fmaxf(s->m, m);
    float old = s->m == top ? 1.0F : exp2f(s->m - top), new = exp2f(m - top);
    s->n = s->n * old + n * new;
    for (int i = 0; i < d; i++) {
        float a = s->acc[i] * old;
        s->acc[i] = a + of_bf16(o[i]) * new;
    }
    s->m = top;
}

static void reduce(const struct cp_merge_call *call, int row, int head) {
    static struct state s;
    s.m = -INFINITY;
    s.n = 0.0F;
    memset(s.acc, 0, sizeof s.acc);
    for (int p = 0; p < call->n_parts; p++) {
        long long l_at = p * call->l_part + row * call->l_row + head * call->l_head;
        long long n_at = l_at;
        const uint16_t *o =
            (const uint16_t *)call->o + p * call->o_part + row * call->o_row + head * call->o_head;
        join(&s, ((const float *)call->l)[l_at], ((const float *)call->n)[n_at], o, call->head_dim);
    }
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    int d = call->head_dim;
    for (int i = 0; i < d; i++) {
        out[i] = bf16_of(s.n > 0.0F ? s.acc[i] / s.n : 0.0F);
    }
    float lse = s.n > 0.0F ? s.m + log2f(s.n) : -INFINITY;
    ((float *)call->lse)[row * call->lse_row + head * call->lse_head] = lse;
}

static int merge(const struct cp_merge_call *call) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            reduce(call, row, head);
        }
    }
    return 0;
}

static const char *refuses(const struct cp_merge_call *call) {
    return call->head_dim > MOST_D ? "d is too large" : NULL;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "multi-block",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .lse = CP_LSE_ALWAYS,
    .most_parts = MOST,
    .form = CP_FORM_UNDIVIDED,
    .empty_l = CP_EMPTY_L_ANY,
    .layout = {.o = CP_O_ORDER_PART_ROW, .l = CP_L_ORDER_PART_HEAD, .lse = CP_LSE_ORDER_ROW},
    .arithmetic = {.way = CP_MERGING_STATES,
                   .converts = CP_CONVERTS_NONE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .refuses = refuses,
    .merge = merge,
};
