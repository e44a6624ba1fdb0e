/* SPDX-License-Identifier: Apache-2.0 */
/* Version 1, to be read first: the reference line by line (ref/chunk_first.c), with one thread for
 * each element of the output. Threads share nothing, so no thread waits; each computes every score
 * itself. Any head dimension up to 1024, any chunk size. */
#ifndef CHUNKPROOF_KERNELS_V1_H
#define CHUNKPROOF_KERNELS_V1_H

#include "kernels/cache.h"
#include "kernels/mask.h"
#include "kernels/merge.h"
#include "kernels/scores.h"

namespace chunkproof {
namespace v1 {

/* SOFTMAX-1, SCORE-4, of key j of a task. scale: which one of K it has. */
template <class A>
__device__ typename A::Score score(const Problem<A> &p, const typename A::Key *q,
                                   const typename A::StoredKey *k, std::size_t scale,
                                   const Bias<A> &bias, const Table<A> &table, int j) {
    typename A::Score sum = A::no_product();
    for (int i = 0; i < p.head_dim; i++) {
        sum = A::add_product(sum, q[i], key_number(p, k[i]));
    }
    sum = changed(p, times_scale_of_key(p, A::scaled(sum, p.scale), scale), bias, j);
    return with_table(p, sum, table, j);
}

/* MERGE-3: element i of the state of keys begin .. end - 1 of a chunk, of those that the mask
 * leaves. first: which key of the task its first one is. */
template <class A>
__device__ State<A> partial_attn(const Problem<A> &p, const Bias<A> &bias, const Table<A> &table,
                                 const Left<A> &left, int row, int head, int chunk, int first,
                                 int begin, int end, int i) {
    std::size_t d = p.head_dim;
    int kv_head = kv_head_of(p, head);
    std::size_t slice = slice_begin(p, chunk, kv_head);
    const typename A::Key *q = p.q + row_begin(p, row, head);
    const typename A::StoredKey *k = p.k + slice;
    const typename A::StoredValue *v = p.v + slice;
    State<A> state = empty_state<A>();
    for (int j = begin; j < end; j++) {
        if (left.has(first + j)) {
            std::size_t scale = scale_at(p, chunk, kv_head, j);
            state.m = A::maximum(state.m, score(p, q, k + j * d, scale, bias, table, first + j));
        }
    }
    for (int j = begin; j < end; j++) {
        if (left.has(first + j)) {
            std::size_t scale = scale_at(p, chunk, kv_head, j);
            typename A::Score s = score(p, q, k + j * d, scale, bias, table, first + j);
            typename A::Weight weight = A::exponential(s, state.m);
            state.n = A::add(state.n, weight);
            state.o = A::add_weighted(state.o, weight, value_number(p, v[j * d + i], scale));
        }
    }
    return state;
}

/* The same for all chunks of a task of n_keys keys, merged one after the other. Of a chunk that a
 * row sees two ranges of, each gives a state (WINDOW-3). */
template <class A>
__device__ State<A> task_attn(const Problem<A> &p, const cp_task &task, int n_keys, int row,
                              int head, int i) {
    cp_keys_seen seen = cp_keys_seen_from(&p.window, p.lists.position[row], task.position, n_keys);
    Bias<A> bias = bias_of(p, task, row, head);
    Table<A> table = table_of(p, task, row, head);
    Left<A> left = left_of(p, task, row);
    State<A> state = empty_state<A>();
    for (int k = 0; k < task.n_chunks; k++) {
        int chunk = p.lists.chunk[task.first_chunk + k], first = k * p.chunk_size;
        int kept = cp_keys_from(seen.kept - 1, first, p.chunk_size);
        int begin = cp_keys_from(seen.begin - 1, first, p.chunk_size);
        int end = cp_keys_from(seen.end - 1, first, p.chunk_size);
        if (kept > 0) {
            attn_reduce(state,
                        partial_attn(p, bias, table, left, row, head, chunk, first, 0, kept, i));
        }
        if (begin < end) {
            attn_reduce(state,
                        partial_attn(p, bias, table, left, row, head, chunk, first, begin, end, i));
        }
    }
    return state;
}

/* TPP-1, for the chunks that sequences share and for those that one sequence alone has. Block
 * (task, head, any), thread i: element i of the partial results of the task's query rows. */
template <class A> __device__ void attend_rows(const Problem<A> &p) {
    const cp_task &task = p.lists.task[blockIdx.x];
    int n_keys = p.lists.n_keys[blockIdx.x], head = blockIdx.y, i = threadIdx.x;
    for (int x = blockIdx.z; x < task.n_rows; x = cp_next_tile(x, 1, gridDim.z)) {
        int part = task.first_part + x;
        State<A> state = task_attn(p, task, n_keys, p.lists.row[part], head, i);
        std::size_t at = part_at(p, part, head);
        if (has_sums(p, state.n)) {
            p.part_o[at * p.head_dim + i] = state.o;
        }
        if (i == 0) {
            p.part_m[at] = state.m;
            p.part_n[at] = state.n;
        }
    }
}

template <class A> __global__ void attend_tasks(Problem<A> p) {
    attend_rows(p);
}

/* Of a cache of 8 bits: within the registers of a block of 1024 threads. */
template <class A> __global__ void __launch_bounds__(CP_MOST_BLOCK) attend_cached(Problem<A> p) {
    attend_rows(p);
}

/* The same with a mask. */
template <class A> __global__ void __launch_bounds__(CP_MOST_BLOCK) attend_masked(Problem<A> p) {
    attend_rows(p);
}

/* The two phases; launch is that of merge(). */
template <class A, class Launch>
void attend(const Launch &launch, const Problem<A> &p, const cp_schedule &schedule) {
    dim3 tasks(schedule.n_tasks, p.n_heads, cp_blocks_for(schedule.most_rows, 1));
    if constexpr (A::HAS_MASK) {
        launch(tasks, dim3(p.head_dim), 0, attend_masked<A>, p);
    } else if constexpr (A::OF_8_BITS) {
        launch(tasks, dim3(p.head_dim), 0, attend_cached<A>, p);
    } else {
        launch(tasks, dim3(p.head_dim), 0, attend_tasks<A>, p);
    }
    merge(launch, p, schedule);
}

} // namespace v1
} // namespace chunkproof

#endif
