/* SPDX-License-Identifier: Apache-2.0 */
/* Values of another width than keys, in rows of their own length or in their keys
 * (spec/widths.md): for which widths there are kernels, what these are given, and where the numbers
 * lie. */
#ifndef CHUNKPROOF_KERNELS_WIDTHS_H
#define CHUNKPROOF_KERNELS_WIDTHS_H

#include "kernels/problem.h"
#include "kernels/real.h"

/* d, d_v, and whether values are in keys. The others take values anywhere, so that a pair of widths
 * stands here once. */
#ifndef CHUNKPROOF_WIDTHS
#define CHUNKPROOF_WIDTHS(ONE)                                                                     \
    ONE(64, 32, false) ONE(96, 64, true) ONE(192, 128, false) ONE(576, 512, true)
#endif

namespace chunkproof {

template <int KEY_DIM, int VALUE_DIM, bool VALUES_IN_KEYS> struct Widths {
    static const int D = KEY_DIM;
    static const int D_V = VALUE_DIM;
    static const bool IN_KEYS = VALUES_IN_KEYS;
};

/* Calls each(Widths<...>()) for these widths, if there are kernels for them. */
template <class Each> void with_widths(int key_dim, int value_dim, bool in_keys, const Each &each) {
#define ONE(D, D_V, IN_KEYS)                                                                       \
    if (key_dim == D && value_dim == D_V && (in_keys || !IN_KEYS)) {                               \
        each(Widths<D, D_V, IN_KEYS>());                                                           \
    }
    CHUNKPROOF_WIDTHS(ONE)
#undef ONE
}

/* head_dim is d_v here, the numbers of a result: what only knows results needs no other. */
template <class A> struct WideProblem : Problem<A> {
    int key_dim; /* d */
    int v_row;   /* from one value to the next in V (WIDTH-2) */
    int v_begin; /* values are their keys' numbers from this one on, a multiple of 8; -1: they are
                  * not in keys */
};

/* The first number of a query; and that of key j of a task in an array whose rows have `row`
 * numbers. */
template <class A> __device__ std::size_t query_begin(const WideProblem<A> &p, int row, int head) {
    return cp_state_begin(&p, row, head, p.key_dim);
}

template <class A>
__device__ std::size_t slot_begin(const WideProblem<A> &p, const cp_task &task, int kv_head, int j,
                                  int row) {
    int chunk = p.lists.chunk[task.first_chunk + cp_chunk_of_key(j, p.chunk_size)];
    return cp_slot_begin(&p, chunk, kv_head, cp_slot_of_key(j, p.chunk_size), row);
}

/* Arithmetics of their own: kernels that other files have, too, would be there twice. */
struct RealWidthsInBits : RealInBits {};
struct RealBf16WidthsInBits : RealBf16InBits {};

} // namespace chunkproof

#endif
