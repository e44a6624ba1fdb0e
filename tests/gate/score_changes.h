/* SPDX-License-Identifier: Apache-2.0 */
/* What score_rows.c and kernels by the same author have in common: products, caps, states and
 * results in binary32. */
#ifndef CHUNKPROOF_TESTS_GATE_SCORE_CHANGES_H
#define CHUNKPROOF_TESTS_GATE_SCORE_CHANGES_H

#include <math.h>

#include "kernel_util.h"

/* q . k, of a query and a key whose first numbers are at q and k. */
static inline float product(const struct cp_kernel_call *call, int type, long long q, long long k) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, type, q + i) * load(call->k, type, k + i);
    }
    return dot;
}

/* SCORE-1; 0 is no cap. */
static inline float capped(float s, float cap) {
    return cap > 0.0F ? cap * tanhf(s / cap) : s;
}

/* SCORE-2; without slopes it is 0. */
static inline float slope_of(const struct cp_kernel_call *call, int head) {
    return call->slopes != NULL ? call->slopes[head] : 0.0F;
}

/* The state of a row and head: m, n, and d numbers o. */
struct state {
    float m, n, *o;
};

static inline void clear(const struct cp_kernel_call *call, struct state *state) {
    state->m = -INFINITY;
    state->n = 0.0F;
    memset(state->o, 0, (size_t)call->head_dim * sizeof *state->o);
}

/* The key's value is at v. */
static inline void add_key(const struct cp_kernel_call *call, int type, struct state *state,
                           float score, long long v) {
    float largest = fmaxf(state->m, score);
    float weight = expf(score - largest), rescale = expf(state->m - largest);
    state->n = state->n * rescale + weight;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] = state->o[i] * rescale + weight * load(call->v, type, v + i);
    }
    state->m = largest;
}

static inline void write_result(const struct cp_kernel_call *call, int type, int row, int head,
                                const struct state *state) {
    float n = state->n;
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, type, out_at(call, row, head) + i, n > 0.0F ? state->o[i] / n : 0.0F);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n > 0.0F ? state->m + logf(n) : -INFINITY;
    }
}

#endif
