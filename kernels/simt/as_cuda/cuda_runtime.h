/* SPDX-License-Identifier: Apache-2.0 */
/* What a source in plain CUDA gets on the executor in place of CUDA's headers
 * (gate/source/cuda_source.h). */
#ifndef CHUNKPROOF_KERNELS_SIMT_AS_CUDA_H
#define CHUNKPROOF_KERNELS_SIMT_AS_CUDA_H

#include "kernels/simt/cuda.h"
#include "kernels/simt/host.h"

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute, int bytes) {
    return simt::allow_shared(reinterpret_cast<const void *>(kernel), bytes);
}

namespace simt {

/* kernel<<<grid, block, bytes, stream>>>(arguments...): more than 48 KiB only where
 * cudaFuncSetAttribute() said so. */
template <class... P>
void launch_plain(cudaStream_t stream, dim3 grid, dim3 block, std::size_t bytes,
                  void (*kernel)(P...), typename Same<P>::type... arguments) {
    if (may_use_shared(reinterpret_cast<const void *>(kernel), bytes)) {
        (void)launch_on(stream, grid, block, bytes, kernel, arguments...);
    }
}

} // namespace simt

#endif
