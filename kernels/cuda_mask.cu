/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of masks of bits (mask.h), for the launcher: those of version 1. */
#include "kernels/launch.h"

namespace chunkproof {

const char *obstacle_of_mask(int version, const cp_cuda_attention *a) {
    return has_widths(a)  ? "masks of bits take values of the width of keys, in rows of their own"
           : version != 1 ? "masks of bits take version 1"
                          : nullptr;
}

template <class A, class Launcher>
static void attend_in_mask(const Launcher &launch, const cp_cuda *cuda,
                           const cp_cuda_attention *a) {
    with_problem<A>(cuda, a, [&](const Problem<A> &p) { v1::attend(launch, p, cuda->schedule); });
}

template <class Launcher>
static void attend_by(const Launcher &launch, const cp_cuda *cuda, const cp_cuda_attention *a) {
    const bool is_cached = a->k_type != a->q_type, is_bf16 = a->q_type == CP_BF16;
    if (is_cached && is_bf16) {
        attend_in_mask<RealBf16CacheMasked>(launch, cuda, a);
    } else if (is_cached) {
        attend_in_mask<RealCacheMasked>(launch, cuda, a);
    } else if (is_bf16) {
        attend_in_mask<RealBf16Masked>(launch, cuda, a);
    } else {
        attend_in_mask<RealMasked>(launch, cuda, a);
    }
}

void attend_masked(const Measure &measure, const cp_cuda *cuda, const cp_cuda_attention *a) {
    attend_by(measure, cuda, a);
}

void attend_masked(const Launch &launch, const cp_cuda *cuda, const cp_cuda_attention *a) {
    attend_by(launch, cuda, a);
}

} // namespace chunkproof
