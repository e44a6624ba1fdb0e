/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of K and V of 8 bits (cache.h), for the launcher. */
#include "kernels/launch.h"

namespace chunkproof {

template <class Launcher>
static void attend_by(const Launcher &launch, int version, const cp_cuda *cuda,
                      const cp_cuda_attention *a) {
    if (a->q_type == CP_BF16) {
        attend_in<RealBf16Cache, RealBf16CacheInBits>(launch, version, cuda, a);
    } else {
        attend_in<RealCache, RealCacheInBits>(launch, version, cuda, a);
    }
}

void attend_cached(const Measure &measure, int version, const cp_cuda *cuda,
                   const cp_cuda_attention *a) {
    attend_by(measure, version, cuda, a);
}

void attend_cached(const Launch &launch, int version, const cp_cuda *cuda,
                   const cp_cuda_attention *a) {
    attend_by(launch, version, cuda, a);
}

} // namespace chunkproof
