/* SPDX-License-Identifier: Apache-2.0 */
/* Where the numbers of a call lie, for the kernels of this directory: only index arithmetic and the
 * loop over rows, no part of the algorithm. */
#ifndef CHUNKPROOF_TESTS_GATE_KERNEL_UTIL_H
#define CHUNKPROOF_TESTS_GATE_KERNEL_UTIL_H

#include <string.h>

#include "chunkproof/kernel.h"

/* A relative error that the C library's expf() stays below: it is within one unit in the last
 * place. */
#define EXPF_ERROR 0x1p-22

/* How many keys of sequence s its query row `row` sees; none is 0. */
static inline int keys_seen(const struct cp_kernel_call *call, int s, int row) {
    int p = call->position[row], n = call->n_tokens[s];
    return p < 0 ? 0 : p < n ? p + 1 : n;
}

static inline int group_size(const struct cp_kernel_call *call) {
    return call->n_heads / call->n_kv_heads;
}

/* The chunk of the table that has key j of sequence s. */
static inline int chunk_of(const struct cp_kernel_call *call, int s, int j) {
    return call->table[(long long)s * call->table_width + j / call->chunk_size];
}

/* The run of chunk k of sequence s (RUNS-1). */
static inline struct cp_run run_of(const struct cp_kernel_call *call, int s, int k) {
    long long at = (long long)s * call->table_width + k;
    return (struct cp_run){call->table[at], call->table_tokens[at], call->table_position[at]};
}

/* How many runs the table has of sequence s. */
static inline int n_runs_of(const struct cp_kernel_call *call, int s) {
    int n = 0;
    while (n < call->table_width && run_of(call, s, n).chunk >= 0) {
        n++;
    }
    return n;
}

/* The run that descriptor i gives to the sequences that it serves (RUNS-2). */
static inline struct cp_run shared_run(const struct cp_kernel_call *call, int i) {
    const struct cp_shared_chunk *shared = &call->shared[i];
    return (struct cp_run){shared->chunk, shared->n_tokens, shared->position};
}

/* How many keys of a run a row at position p sees (RUNS-4). */
static inline int seen_in_run(struct cp_run run, int p) {
    int before = p - run.position; /* of these keys before p */
    return before < 0 ? 0 : before < run.n_tokens ? before + 1 : run.n_tokens;
}

/* The first of the d elements of a row, as an index into its array. */
static inline long long q_at(const struct cp_kernel_call *call, int row, int head) {
    return row * call->q_row + head * call->q_head;
}

static inline long long k_at(const struct cp_kernel_call *call, int chunk, int kv_head, int slot) {
    return chunk * call->k_chunk + kv_head * call->k_head + slot * call->k_slot;
}

static inline long long v_at(const struct cp_kernel_call *call, int chunk, int kv_head, int slot) {
    return chunk * call->v_chunk + kv_head * call->v_head + slot * call->v_slot;
}

static inline long long out_at(const struct cp_kernel_call *call, int row, int head) {
    return row * call->out_row + head * call->out_head;
}

static inline long long lse_at(const struct cp_kernel_call *call, int row, int head) {
    return row * call->lse_row + head * call->lse_head;
}

/* Reads a number exactly: binary16 and bfloat16 are binary32 numbers. Not for CP_FP64. Numbers of
 * 16 bits are moved to the places of binary32's bits without the library, because nothing is done
 * more often. */
static inline float load(const void *array, int type, long long at) {
    if (type == CP_FP32) {
        return ((const float *)array)[at];
    }
    uint32_t half = ((const uint16_t *)array)[at], bits = half << 16;
    float x;
    if (type == CP_FP16) { /* exponents count from 15, not from 127; 31 means infinity or NaN */
        bits = (half & 0x8000) << 16 | (half & 0x7FFF) << 13;
        bits |= (half & 0x7C00) == 0x7C00 ? 0x7F800000 : 0;
    }
    memcpy(&x, &bits, sizeof x);
    return type == CP_FP16 ? x * 0x1p112F : x;
}

static inline void store(void *array, int type, long long at, float x) {
    cp_number_store(array, type, (size_t)at, x);
}

/* Calls row_of() for each row and head. */
static inline void each_row(const struct cp_kernel_call *call,
                            void (*row_of)(const struct cp_kernel_call *call, int s, int row,
                                           int head)) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                row_of(call, s, row, head);
            }
        }
    }
}

#endif
