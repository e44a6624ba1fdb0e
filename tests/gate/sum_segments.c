/* SPDX-License-Identifier: Apache-2.0 */
/* As the segment reduction of a Triton decode kernel: one program per row and head loads a padded
 * block of all segments' maxima and sums under a mask, then adds the undivided outputs in tiles
 * of d. Parts by row, natural base, out bfloat16, no log-sum-exp. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "chunkproof/merge_kernel.h"

#define BLOCK 1024 /* the padded number of segments: not less than CP_MERGE_MOST_PARTS */
#define TILE  16   /* numbers of d at a time */

static uint16_t bf16_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x != x) {
        return (uint16_t)(bits >> 16 | 0x40);
    }
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

struct program {
    const float *o, *m, *n;
    long long o_part, l_part;
    int parts;
    float weight[BLOCK];
};

/* The weights of all segments for the largest maximum; returns their sum. */
static float weigh(struct program *p) {
    float top = -INFINITY;
    for (int i = 0; i < BLOCK; i++) {
        int in = i < p->parts && p->n[i * p->l_part] > 0.0F;
        top = fmaxf(top, in ? p->m[i * p->l_part] : -INFINITY);
    }
    float sum = 0.0F;
    for (int i = 0; i < BLOCK; i++) {
        int in = i < p->parts && p->n[i * p->l_part] > 0.0F;
        float factor = in ? expf(p->m[i * p->l_part] - top) : 0.0F;
        p->weight[i] = factor;
        sum += in ? factor * p->n[i * p->l_part] : 0.0F;
    }
    return sum;
}

static void reduce(const struct cp_merge_call *call, int row, int head) {
    struct program p = {0};
    int begin = call->part_begin[row];
    p.parts = call->part_begin[row + 1] - begin;
    p.o_part = call->o_part;
    p.l_part = call->l_part;
    p.o = (const float *)call->o + begin * call->o_part + head * call->o_head;
    p.m = (const float *)call->l + begin * call->l_part + head * call->l_head;
    p.n = (const float *)call->n + begin * call->l_part + head * call->l_head;
    float sum = weigh(&p);
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    for (int from = 0; from < call->head_dim; from += TILE) {
        float acc[TILE] = {0};
        for (int i = 0; i < p.parts; i++) {
            int in = p.weight[i] > 0.0F;
            for (int t = 0; in && t < TILE && from + t < call->head_dim; t++) {
                acc[t] += p.weight[i] * p.o[i * p.o_part + from + t];
            }
        }
        for (int t = 0; t < TILE && from + t < call->head_dim; t++) {
            out[from + t] = bf16_of(sum > 0.0F ? acc[t] / sum : 0.0F);
        }
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
    .name = "reduce-segments",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .lse = CP_LSE_NEVER,
    .parts = CP_PARTS_BY_ROW,
    .form = CP_FORM_UNDIVIDED,
    .empty_l = CP_EMPTY_L_ANY,
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .converts = CP_CONVERTS_NONE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merge,
};
