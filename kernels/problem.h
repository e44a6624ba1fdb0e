/* SPDX-License-Identifier: Apache-2.0 */
/* What every kernel is given, and where its parts lie. A is the arithmetic: floating-point numbers
 * (real.h), or a finite field (field.h). */
#ifndef CHUNKPROOF_KERNELS_PROBLEM_H
#define CHUNKPROOF_KERNELS_PROBLEM_H

#include <cstddef>

#include "kernels/index.h"
#include "kernels/schedule.h"
#include "kernels/simt/cuda.h"

namespace chunkproof {

/* The arrays of a schedule (schedule.h) on the device. */
struct Lists {
    const cp_task *task;
    const int *chunk;
    const int *source_begin;
    const int *source;
    const int *query_begin;
    const int *sequence;
    const int *row;
    const int *n_keys;
    const int *position;
};

inline Lists lists_of(const cp_schedule &s, const int *numbers) {
    return {reinterpret_cast<const cp_task *>(numbers + s.task),
            numbers + s.chunk,
            numbers + s.source_begin,
            numbers + s.source,
            numbers + s.query_begin,
            numbers + s.sequence,
            numbers + s.row,
            numbers + s.n_keys,
            numbers + s.position};
}

/* What a call of a cache of 8 bits has besides (cache.h): types of number8.h, and scales as in
 * struct cp_scales. */
template <class A, bool = A::OF_8_BITS> struct Cache {};

template <class A> struct Cache<A, true> {
    int k_type, v_type, per;
    const typename A::CacheScale *k_scales; /* or NULL: 1 */
    const typename A::CacheScale *v_scales;
};

/* What a call with a mask has besides (mask.h): the arrays of MASK-1 for its query rows. */
template <class A, bool = A::HAS_MASK> struct Mask {};

template <class A> struct Mask<A, true> { cp_mask mask; };

/* Passed by value. All arrays are in device memory, laid out as chunkproof/attention.h says. */
template <class A> struct Problem : cp_dims, Cache<A>, Mask<A> {
    Lists lists;
    cp_window window;
    typename A::Scale scale;
    const typename A::Key *q;         /* [query rows][h][d] */
    const typename A::StoredKey *k;   /* [capacity][h_kv][c][d] */
    const typename A::StoredValue *v; /* as k */
    void *out;                        /* [query rows][h][d] of out_type */
    int out_type;
    typename A::Log *lse; /* [query rows][h], or NULL */

    typename A::Cap cap;             /* SCORE-1, or none */
    const typename A::Given *slopes; /* [h] SCORE-2, or NULL */
    const typename A::Given *sinks;  /* [h] SCORE-3, or NULL */
    const typename A::Given *biases; /* [h][n_biases] SCORE-5, or NULL */
    int n_biases, own_bias;          /* own_bias: the entry of the row's own position */

    typename A::Score *part_m;  /* [n_parts][h]: m of each partial result (MERGE-1) */
    typename A::Weight *part_n; /* [n_parts][h]: n */
    typename A::Weight *part_o; /* [n_parts][h][d]: o */
};

template <class A> __device__ int kv_head_of(const Problem<A> &p, int head) {
    return cp_kv_head_of(&p, head);
}

/* As in index.h: the first element of a chunk's slice; the first element of a query row and head;
 * the number of the partial result of a row and head. */
template <class A> __device__ std::size_t slice_begin(const Problem<A> &p, int chunk, int kv_head) {
    return cp_slice_begin(&p, chunk, kv_head);
}

template <class A> __device__ std::size_t row_begin(const Problem<A> &p, int row, int head) {
    return cp_query_begin(&p, row, head);
}

template <class A> __device__ std::size_t part_at(const Problem<A> &p, int part, int head) {
    return cp_state_at(&p, part, head);
}

} // namespace chunkproof

#endif
