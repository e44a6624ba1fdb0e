/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: the block, and its tiles within a warp. Clusters, grids and coalesced threads
 * are missing. Each collective takes the place of its call in the source as a last, defaulted
 * argument, as those of cuda_cpu.h do. */
#ifndef CHUNKPROOF_KERNELS_SIMT_AS_CUDA_COOPERATIVE_GROUPS_H
#define CHUNKPROOF_KERNELS_SIMT_AS_CUDA_COOPERATIVE_GROUPS_H

#include "kernels/simt/cuda.h"

namespace cooperative_groups {

struct thread_block {
    static void sync(simt::Where where = simt::Where::here()) {
        __syncthreads(where);
    }

    static unsigned thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }

    static unsigned num_threads() {
        return blockDim.x * blockDim.y * blockDim.z;
    }

    static unsigned size() {
        return num_threads();
    }

    static dim3 group_index() {
        return {blockIdx.x, blockIdx.y, blockIdx.z};
    }

    static dim3 thread_index() {
        return {threadIdx.x, threadIdx.y, threadIdx.z};
    }
};

inline thread_block this_thread_block() {
    return {};
}

/* N neighbouring threads of a warp, N a power of two. */
template <unsigned N> struct thread_block_tile {
    static_assert(N > 0 && N <= 32 && (N & (N - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");

    /* Which of the warp's lanes are its threads. */
    static unsigned mask() {
        unsigned first = thread_block::thread_rank() % 32 / N * N;
        return (N == 32 ? 0xFFFFFFFFu : (1u << N % 32) - 1) << first;
    }

    static unsigned thread_rank() {
        return thread_block::thread_rank() % N;
    }

    static constexpr unsigned num_threads() {
        return N;
    }

    static constexpr unsigned size() {
        return N;
    }

    static unsigned meta_group_rank() {
        return thread_block::thread_rank() / N;
    }

    static unsigned meta_group_size() {
        return (thread_block::num_threads() + N - 1) / N;
    }

    static void sync(simt::Where where = simt::Where::here()) {
        __syncwarp(mask(), where);
    }

    template <class T> static T shfl(T value, int rank, simt::Where where = simt::Where::here()) {
        return __shfl_sync(mask(), value, rank, N, where);
    }

    template <class T>
    static T shfl_up(T value, unsigned by, simt::Where where = simt::Where::here()) {
        return __shfl_up_sync(mask(), value, by, N, where);
    }

    template <class T>
    static T shfl_down(T value, unsigned by, simt::Where where = simt::Where::here()) {
        return __shfl_down_sync(mask(), value, by, N, where);
    }

    template <class T>
    static T shfl_xor(T value, unsigned with, simt::Where where = simt::Where::here()) {
        return __shfl_xor_sync(mask(), value, static_cast<int>(with), N, where);
    }

    static int any(int predicate, simt::Where where = simt::Where::here()) {
        return __any_sync(mask(), predicate, where);
    }

    static int all(int predicate, simt::Where where = simt::Where::here()) {
        return __all_sync(mask(), predicate, where);
    }

    static unsigned ballot(int predicate, simt::Where where = simt::Where::here()) {
        unsigned first = thread_block::thread_rank() % 32 / N * N;
        return __ballot_sync(mask(), predicate, where) >> first;
    }
};

/* Of a block or a larger tile. */
template <unsigned N, class Group> thread_block_tile<N> tiled_partition(const Group &) {
    return {};
}

template <class Group> void sync(const Group &group, simt::Where where = simt::Where::here()) {
    group.sync(where);
}

} // namespace cooperative_groups

#endif
