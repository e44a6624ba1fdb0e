/* SPDX-License-Identifier: Apache-2.0 */
/* As the newest attention kernels rescale, seldom: a running reference that is set 8 bits above the
 * maximum, and moves only when a part's is above it. Two warps take parts in turn, and one merges
 * their states. Sums in base 2, divided outputs in binary16, parts by row; out binary16. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "chunkproof/merge_kernel.h"

#define WARPS  2
#define MOST_D 1024
#define LAZY   8.0F

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

struct state {
    float m, n, o[MOST_D];
};

static void rescale(struct state *s, float to, int d) {
    float factor = s->m == -INFINITY ? 0.0F : exp2f(s->m - to);
    s->n *= factor;
    for (int i = 0; i < d; i++) {
        s->o[i] *= factor;
    }
    s->m = to;
}

static void add(struct state *s, float m, float n, const uint16_t *o, int d) {
    if (!(n > 0.0F)) {
        return;
    }
    int moves = m > s->m;
    if (moves) {
        rescale(s, m + LAZY, d);
    }
    float p = n * exp2f(m - s->m);
    s->n += p;
    for (int i = 0; i < d; i++) {
        s->o[i] += p * of_half(o[i]);
    }
}

static void reduce(const struct cp_merge_call *call, int row, int head) {
    static struct state warp[WARPS];
    int begin = call->part_begin[row], end = call->part_begin[row + 1], d = call->head_dim;
    for (int w = 0; w < WARPS; w++) {
        int clears = 1;
        if (clears) {
            memset(&warp[w], 0, sizeof warp[w]);
            warp[w].m = -INFINITY;
        }
        for (int p = begin + w; p < end; p += WARPS) {
            long long l_at = p * call->l_part + head * call->l_head;
            long long o_at = p * call->o_part + head * call->o_head;
            add(&warp[w], ((const float *)call->l)[l_at], ((const float *)call->n)[l_at],
                (const uint16_t *)call->o + o_at, d);
        }
    }
    float top = fmaxf(warp[0].m, warp[1].m);
    float n = 0.0F;
    for (int w = 0; w < WARPS; w++) {
        if (warp[w].n > 0.0F) {
            rescale(&warp[w], top, d);
            n += warp[w].n;
        }
    }
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    for (int i = 0; i < d; i++) {
        float sum = warp[0].o[i] + warp[1].o[i];
        out[i] = half_of(n > 0.0F ? sum / n : 0.0F);
    }
    if (call->lse != NULL) {
        float *lse = (float *)call->lse + row * call->lse_row + head * call->lse_head;
        *lse = n > 0.0F ? top + log2f(n) : -INFINITY;
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
    .name = "lazy-rescale",
    .o_type = CP_FP16,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .parts = CP_PARTS_BY_ROW,
    .form = CP_FORM_SUMS,
    .empty_l = CP_EMPTY_L_ANY,
    .arithmetic = {.way = CP_MERGING_STATES,
                   .converts = CP_CONVERTS_NONE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24,
                   .above = 5.6}, /* 8 ln 2 */
    .merge = merge,
};
