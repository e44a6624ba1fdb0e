/* SPDX-License-Identifier: Apache-2.0 */
/* What a launcher includes in place of cuda_runtime.h. Under nvcc it includes that header; on a CPU
 * it declares the functions below, with CUDA's meaning, on the device of device.h.
 *
 * Not CUDA's, on both:
 *   simt::launch_on(stream, grid, block, bytes, kernel, arguments...)
 *       kernel<<<grid, block, bytes, stream>>>(arguments...), also with more than 48 KiB of dynamic
 *       shared memory */
#ifndef CHUNKPROOF_KERNELS_SIMT_HOST_H
#define CHUNKPROOF_KERNELS_SIMT_HOST_H

#include <cstddef>

namespace simt {

/* T, but not to be deduced from an argument. */
template <class T> struct Same { typedef T type; };

} // namespace simt

#ifdef __CUDACC__

#include <cuda_runtime.h>

namespace simt {

template <class... P>
cudaError_t launch_on(cudaStream_t stream, dim3 grid, dim3 block, std::size_t bytes,
                      void (*kernel)(P...), typename Same<P>::type... arguments) {
    const void *function = reinterpret_cast<const void *>(kernel);
    if (bytes > 48 * 1024) {
        cudaError_t error = cudaFuncSetAttribute(
            function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
        if (error != cudaSuccess) {
            return error;
        }
    }
    void *parameters[] = {&arguments..., nullptr};
    return cudaLaunchKernel(function, grid, block, parameters, bytes, stream);
}

} // namespace simt

#else

#include <functional>

#include "kernels/simt/simt.h"

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorLaunchFailure = 719,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};

/* What launchers look at; in bytes. */
struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock;
    std::size_t sharedMemPerBlock, sharedMemPerBlockOptin;
};

enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
};

enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone = 0,
    cudaStreamCaptureStatusActive = 1,
    cudaStreamCaptureStatusInvalidated = 2,
};

enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal = 0 };

const unsigned cudaHostAllocDefault = 0;
const unsigned cudaEventDefault = 0;
const unsigned cudaEventDisableTiming = 2;
const unsigned cudaStreamDefault = 0;
const unsigned cudaStreamNonBlocking = 1;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;

extern "C" { /* as CUDA's own are */

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int *devices);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);

cudaError_t cudaMalloc(void **memory, std::size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaHostAlloc(void **memory, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int byte, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemset(void *to, int byte, std::size_t bytes);
cudaError_t cudaDeviceSynchronize();

/* Streams never wait for each other here: cudaStreamDefault is cudaStreamNonBlocking. */
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);

} /* extern "C" */

namespace simt {

/* A kernel that needs more than 48 KiB of dynamic shared memory must be announced before it is
 * launched. */
cudaError_t allow_shared(const void *kernel, int bytes);
/* No: the launch fails, and cudaGetLastError() says so. */
bool may_use_shared(const void *kernel, std::size_t bytes);

cudaError_t launch_later(cudaStream_t stream, const Config &config,
                         std::function<Report(const Config &)> kernel);

template <class... P>
cudaError_t launch_on(cudaStream_t stream, dim3 grid, dim3 block, std::size_t bytes,
                      void (*kernel)(P...), typename Same<P>::type... arguments) {
    Config config;
    config.grid = grid;
    config.block = block;
    config.dynamic_bytes = bytes;
    return launch_later(stream, config,
                        [=](const Config &ready) { return launch(ready, kernel, arguments...); });
}

} // namespace simt

#endif

#endif
