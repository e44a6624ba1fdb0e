/* SPDX-License-Identifier: Apache-2.0 */
/* For kernels that walk a struct cp_plan with contiguous tensors: a call's tensors without gaps,
 * and its plan. */
#ifndef CHUNKPROOF_TESTS_GATE_CONTIGUOUS_H
#define CHUNKPROOF_TESTS_GATE_CONTIGUOUS_H

#include <string.h>

#include "chunkproof/plan.h"
#include "kernel_util.h"

/* Are keys, or values, of `width` numbers without gaps? */
static inline int is_contiguous(const struct cp_kernel_call *call, int width, long long chunk,
                                long long head, long long slot) {
    return slot == width && head == slot * call->chunk_size && chunk == head * call->n_kv_heads;
}

/* Nobody copies a pool of more bytes, of K or of V. */
#define MOST_COPIED ((size_t)1 << 28)

static inline size_t pool_bytes(const struct cp_kernel_call *call, int width, size_t size) {
    return (size_t)call->capacity * (size_t)call->n_kv_heads * (size_t)call->chunk_size *
           (size_t)width * size;
}

static inline int copies_too_much(const struct cp_kernel_call *call, size_t size) {
    int d = call->head_dim, d_v = call->value_dim;
    return pool_bytes(call, d > d_v ? d : d_v, size) > MOST_COPIED &&
           (!is_contiguous(call, d, call->k_chunk, call->k_head, call->k_slot) ||
            !is_contiguous(call, d_v, call->v_chunk, call->v_head, call->v_slot));
}

/* [n_rows][h][d] numbers of `size` bytes. */
static inline void gather_rows(const struct cp_kernel_call *call, size_t size, void *to) {
    size_t row_bytes = (size_t)call->head_dim * size;
    char *at = to;
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++, at += row_bytes) {
            memcpy(at, (const char *)call->q + (size_t)q_at(call, row, head) * size, row_bytes);
        }
    }
}

/* The whole pool, [capacity][h_kv][c][width]. Slots without a key are copied too, but nobody
 * computes with them. */
static inline void gather_pool(const struct cp_kernel_call *call, int width, size_t size,
                               const void *from, long long chunk, long long head, long long slot,
                               void *to) {
    size_t row_bytes = (size_t)width * size;
    char *at = to;
    for (int x = 0; x < call->capacity; x++) {
        for (int g = 0; g < call->n_kv_heads; g++) {
            for (int t = 0; t < call->chunk_size; t++, at += row_bytes) {
                size_t first = (size_t)(x * chunk + g * head + t * slot);
                memcpy(at, (const char *)from + first * size, row_bytes);
            }
        }
    }
}

/* Copies results back: out is [n_rows][h][d_v] numbers of `size` bytes, lse [n_rows][h]. */
static inline void scatter_results(const struct cp_kernel_call *call, size_t size, const void *out,
                                   const double *lse) {
    size_t row_bytes = (size_t)call->value_dim * size;
    const char *from = out;
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++, from += row_bytes, lse++) {
            memcpy((char *)call->out + (size_t)out_at(call, row, head) * size, from, row_bytes);
            if (call->lse != NULL) {
                ((double *)call->lse)[lse_at(call, row, head)] = *lse;
            }
        }
    }
}

/* Whoever gives a plan of a tree, or of runs, that is none made a mistake. */
static inline int is_right_plan(const struct cp_kernel_call *call, const struct cp_plan *plan) {
    return call->plan == CP_PLANS_TREES ? cp_plan_is_valid(plan) : cp_plan_check_runs(plan) == NULL;
}

/* Touches only the pages of the plan that hold data. */
static inline void fill_plan(const struct cp_kernel_call *call, struct cp_plan *plan) {
    plan->capacity = call->capacity;
    plan->chunk_size = call->chunk_size;
    plan->n_sequences = call->n_sequences;
    plan->n_shared = call->n_shared;
    plan->n_served = call->n_served;
    for (int i = 0; i < call->n_served; i++) {
        plan->served[i] = call->served[i];
    }
    for (int i = 0; i < call->n_shared; i++) {
        plan->shared[i] = call->shared[i];
    }
    for (int s = 0; s < call->n_sequences; s++) {
        struct cp_plan_sequence *path = &plan->sequence[s];
        path->n_tokens = call->n_tokens[s];
        path->n_shared = call->n_shared_chunks[s];
        path->n_chunks = 0;
        while (run_of(call, s, path->n_chunks).n_tokens > 0) {
            path->run[path->n_chunks] = run_of(call, s, path->n_chunks);
            path->n_chunks++;
        }
    }
}

#endif
