/* SPDX-License-Identifier: Apache-2.0 */
/* Masks of bits (spec/masks.md): which keys of a task the mask leaves to a query row. A call with a
 * mask has an arithmetic of its own, Masked<A>, in which all numbers are as in A.
 *
 *     keys of a task   0 1 2 | 3 4 5 6 7        `without` is 3, and the row's first bit is key 3's
 *     bits             . . . | 1 0 1 0 1
 */
#ifndef CHUNKPROOF_KERNELS_MASK_H
#define CHUNKPROOF_KERNELS_MASK_H

#include "kernels/cache.h"
#include "kernels/problem.h"
#include "kernels/real.h"

namespace chunkproof {

template <class Plain> struct Masked : Plain { static const bool HAS_MASK = true; };

struct RealMasked : Masked<Real> {};
struct RealBf16Masked : Masked<RealBf16> {};
struct RealCacheMasked : Masked<RealCache> {};
struct RealBf16CacheMasked : Masked<RealBf16Cache> {};

/* What the mask says of a query row and a task. Without a mask it leaves every key. */
template <class A, bool = A::HAS_MASK> struct Left {
    __device__ bool has(int) const {
        return true;
    }
};

template <class A> struct Left<A, true> {
    const unsigned char *bits;
    std::size_t first; /* the row's first bit */
    long long without; /* the first key of the task that has a bit; below 0 it is before the task */

    /* MASK-1, of key j of the task. */
    __device__ bool has(int j) const {
        return j < without || cp_bit(bits, first + static_cast<std::size_t>(j - without)) != 0;
    }
};

template <class A> __device__ Left<A> left_of(const Problem<A> &p, const cp_task &task, int row) {
    if constexpr (A::HAS_MASK) {
        long long begin = p.mask.begin == nullptr ? 0 : p.mask.begin[row];
        return {p.mask.bits, p.mask.first[row], begin - task.position};
    } else {
        return {};
    }
}

} // namespace chunkproof

#endif
