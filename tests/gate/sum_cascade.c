/* SPDX-License-Identifier: Apache-2.0 */
/* As a cascade's merge of states of variable length: four lanes take every fourth part of a row,
 * each with a running state, and then exchange states through shared memory, two at a time. Sums
 * with divided outputs in binary32, natural base on an exponential of base 2, parts by row
 * ([row][part][head][d] without gaps), out binary32. */
#include <math.h>
#include <string.h>

#include "chunkproof/merge_kernel.h"

#define LANES  4
#define VECTOR 8 /* numbers of d that a lane holds at once */
#define LOG2E  1.44269504088896340736F

struct state {
    float m, n, o[VECTOR];
};

static void clear(struct state *s) {
    s->m = -INFINITY;
    s->n = 0.0F;
    memset(s->o, 0, sizeof s->o);
}

/* The factor from reference `from` to `to`: exp(from - to). */
static float factor(float from, float to) {
    return from == to ? 1.0F : exp2f((from - to) * LOG2E);
}

/* Merges `other`, whose outputs are sums, into s. */
static void merge_state(struct state *s, const struct state *other) {
    if (!(other->n > 0.0F)) {
        return;
    }
    float top = fmaxf(s->m, other->m);
    float a = factor(s->m, top), b = factor(other->m, top);
    s->n = s->n * a + other->n * b;
    for (int i = 0; i < VECTOR; i++) {
        s->o[i] = s->o[i] * a + other->o[i] * b;
    }
    s->m = top;
}

/* Part p of the row, as a state. */
static void load(const struct cp_merge_call *call, int part, int head, int from, struct state *s) {
    clear(s);
    long long at = part * call->l_part + head * call->l_head;
    const float *o = (const float *)call->o + part * call->o_part + head * call->o_head;
    float n = ((const float *)call->n)[at];
    if (!(n > 0.0F)) {
        return;
    }
    s->m = ((const float *)call->l)[at];
    s->n = n;
    int count = call->head_dim - from < VECTOR ? call->head_dim - from : VECTOR;
    for (int i = 0; i < count; i++) {
        s->o[i] = o[from + i] * s->n;
    }
}

static void merge_vector(const struct cp_merge_call *call, int row, int head, int from) {
    struct state lane[LANES];
    int begin = call->part_begin[row], end = call->part_begin[row + 1];
    for (int k = 0; k < LANES; k++) {
        clear(&lane[k]);
        for (int p = begin + k; p < end; p += LANES) {
            struct state s;
            load(call, p, head, from, &s);
            merge_state(&lane[k], &s);
        }
    }
    for (int step = LANES / 2; step > 0; step /= 2) {
        for (int k = 0; k < step; k++) {
            merge_state(&lane[k], &lane[k + step]);
        }
    }
    float *out = (float *)call->out + row * call->out_row + head * call->out_head + from;
    for (int i = 0; i < VECTOR && from + i < call->head_dim; i++) {
        out[i] = lane[0].n > 0.0F ? lane[0].o[i] / lane[0].n : 0.0F;
    }
    if (call->lse != NULL) {
        float *lse = (float *)call->lse + row * call->lse_row + head * call->lse_head;
        *lse = lane[0].n > 0.0F ? lane[0].m + logf(lane[0].n) : -INFINITY;
    }
}

static int merge(const struct cp_merge_call *call) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            for (int from = 0; from < call->head_dim; from += VECTOR) {
                merge_vector(call, row, head, from);
            }
        }
    }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "cascade-tree",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .parts = CP_PARTS_BY_ROW,
    .form = CP_FORM_SUMS,
    .empty_l = CP_EMPTY_L_ANY,
    .layout = {.o = CP_O_ORDER_ROW_PART,
               .l = CP_L_ORDER_ROW_PART,
               .lse = CP_LSE_ORDER_HEAD,
               .gaps = CP_GAPS_NONE},
    .arithmetic = {.way = CP_MERGING_STATES,
                   .converts = CP_CONVERTS_DIFFERENCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP32,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merge,
};
