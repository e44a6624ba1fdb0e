/* SPDX-License-Identifier: Apache-2.0 */
/* All threads of a tile get the same. */
#ifndef CHUNKPROOF_KERNELS_SIMT_AS_CUDA_COOPERATIVE_GROUPS_REDUCE_H
#define CHUNKPROOF_KERNELS_SIMT_AS_CUDA_COOPERATIVE_GROUPS_REDUCE_H

#include "kernels/simt/as_cuda/cooperative_groups.h"

namespace cooperative_groups {

template <class T> struct plus {
    T operator()(T a, T b) const {
        return a + b;
    }
};

template <class T> struct greater {
    T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};

template <class T> struct less {
    T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};

template <unsigned N, class T, class Operation>
T reduce(const thread_block_tile<N> &tile, T value, Operation operation,
         simt::Where where = simt::Where::here()) {
    for (unsigned other = N / 2; other > 0; other /= 2) {
        value = operation(value, tile.shfl_xor(value, other, where));
    }
    return value;
}

} // namespace cooperative_groups

#endif
