/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel includes in place of cuda_runtime.h, cuda_fp16.h and cuda_bf16.h. Under nvcc it
 * includes these; on a CPU it defines the same names on the executor.
 *
 * CUDA's own, on both: __global__ __device__ __host__ __forceinline__ __restrict__ __align__
 * __launch_bounds__, threadIdx blockIdx blockDim gridDim warpSize, dim3 and the vector types,
 * __syncthreads and its _count _or _and, __syncwarp __shfl_sync __shfl_up_sync __shfl_down_sync
 * __shfl_xor_sync __ballot_sync __any_sync __all_sync __activemask, atomicAdd atomicSub atomicInc
 * atomicDec atomicMax atomicMin atomicAnd atomicOr atomicXor atomicExch atomicCAS, __threadfence
 * and its like, __ldg, __half and __half2 with their conversions and a few operations,
 * __nv_bfloat16 and __nv_bfloat162 with their conversions, fminf fmaxf expf exp2f __expf __fdividef
 * rsqrtf, __float_as_uint and back, __popc __ffs __clz, min max.
 *
 * Not CUDA's, on both:
 *   SIMT_SHARED(float, tile, [2][64]);   __shared__ float tile[2][64];
 *   SIMT_SHARED(int, flag, );            __shared__ int flag;
 *   SIMT_SHARED_DYNAMIC(float, rows);    float *rows: the bytes that the launch asked for
 *   SIMT_UNROLL                          before a loop: its registers are known one by one
 *   simt::bar_sync(id, threads)          bar.sync: barrier 0..15, threads a multiple of 32
 *   simt::cp_async<16>(to, from)         cp.async of 4, 8 or 16 bytes from global to shared memory
 *   simt::cp_async_zfill<16>(to, from, used)   the same, the bytes from `used` on are zeros
 *   simt::cp_async_commit()  simt::cp_async_wait<N>()  simt::cp_async_wait_all()
 *   simt::ldmatrix_x1, _x2, _x4, and _trans of each: (registers, row)  registers: unsigned[1, 2, 4]
 *   simt::mma_m16n8k16(d, a, b, c)       float d[4], unsigned a[4], b[2] (binary16), float c[4];
 *                                        d and c may be the same. Layouts: tensor.cpp
 *   simt::mma_m16n8k16_bf16(d, a, b, c)  the same, with a and b in bfloat16 */
#ifndef CHUNKPROOF_KERNELS_SIMT_CUDA_H
#define CHUNKPROOF_KERNELS_SIMT_CUDA_H

#ifdef __CUDACC__
#include "kernels/simt/cuda_gpu.h"
#else
#include "kernels/simt/cuda_cpu.h"
#endif

#endif
