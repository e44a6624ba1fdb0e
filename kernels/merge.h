/* SPDX-License-Identifier: Apache-2.0 */
/* Online-softmax merging (spec/softmax.md), and the kernel with which every version ends: it merges
 * the partial results of each query row. */
#ifndef CHUNKPROOF_KERNELS_MERGE_H
#define CHUNKPROOF_KERNELS_MERGE_H

#include "kernels/problem.h"

namespace chunkproof {

/* m, n and one element of o (MERGE-1). */
template <class A> struct State {
    typename A::Score m;
    typename A::Weight n;
    typename A::Weight o;
};

/* MERGE-2 */
template <class A> __device__ State<A> empty_state() {
    return {A::none(), A::zero(), A::zero()};
}

/* MERGE-4 */
template <class A> __device__ void attn_reduce(State<A> &state, const State<A> &part) {
    typename A::Score m = A::maximum(part.m, state.m);
    typename A::Weight x = A::exponential(part.m, m);
    typename A::Weight y = A::exponential(state.m, m);
    state.o = A::add(A::multiply(x, part.o), A::multiply(y, state.o));
    state.n = A::add(A::multiply(x, part.n), A::multiply(y, state.n));
    state.m = m;
}

/* With a window most tasks of a long path are seen by few rows. Nobody writes o for a row that sees
 * no key of a task, and nobody reads it. */
template <class A> __device__ bool has_sums(const Problem<A> &p, typename A::Weight n) {
    return p.window.keys == 0 || !A::is_of_none(n);
}

/* TPP-2. Block (query row, head), thread i: merges the partial results of the tasks on the path,
 * then the sink (SCORE-3), and divides; i is the element of the output. */
template <class A> __global__ void merge_rows(Problem<A> p) {
    int row = blockIdx.x, head = blockIdx.y, i = threadIdx.x;
    int s = p.lists.sequence[row];
    State<A> state = empty_state<A>();
    for (int x = p.lists.source_begin[s]; x < p.lists.source_begin[s + 1]; x++) {
        std::size_t at = part_at(p, p.lists.source[x] + row - p.lists.query_begin[s], head);
        typename A::Weight n = p.part_n[at];
        if (has_sums(p, n)) {
            attn_reduce(state, State<A>{p.part_m[at], n, p.part_o[at * p.head_dim + i]});
        }
    }
    if (p.sinks != nullptr) {
        attn_reduce(state, State<A>{A::score_of(p.sinks[head]), A::one(), A::zero()});
    }
    A::store_mean(p.out, p.out_type, row_begin(p, row, head) + i, state.o, state.n);
    if (i == 0 && p.lse != nullptr) {
        p.lse[static_cast<std::size_t>(row) * p.n_heads + head] = A::log_sum(state.m, state.n);
    }
}

/* launch(grid, block, bytes of dynamic shared memory, kernel, arguments...) is any function that
 * runs kernels; for a grid without blocks it does nothing. */
template <class A, class Launch>
void merge(const Launch &launch, const Problem<A> &p, const cp_schedule &schedule) {
    launch(dim3(schedule.n_rows, p.n_heads), dim3(p.head_dim), 0, merge_rows<A>, p);
}

} // namespace chunkproof

#endif
