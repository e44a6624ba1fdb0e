/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h for nvcc: the wrappers are single PTX instructions. Compute capability 8.0 and up. */
#ifndef CHUNKPROOF_KERNELS_SIMT_CUDA_GPU_H
#define CHUNKPROOF_KERNELS_SIMT_CUDA_GPU_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define SIMT_UNROLL _Pragma("unroll")

#define SIMT_SHARED(TYPE, NAME, ...) __shared__ TYPE NAME __VA_ARGS__

#define SIMT_SHARED_DYNAMIC(TYPE, NAME)                                                            \
    extern __shared__ __align__(1024) unsigned char simt_dynamic_bytes[];                          \
    TYPE *NAME = reinterpret_cast<TYPE *>(simt_dynamic_bytes)

namespace simt {

__device__ __forceinline__ void bar_sync(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ __forceinline__ unsigned shared_address(const void *pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

template <int bytes>
__device__ __forceinline__ void cp_async_zfill(void *to, const void *from, int used) {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "cp.async takes 4, 8 or 16 bytes");
    if constexpr (bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                     "l"(__cvta_generic_to_global(from)), "r"(used)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
                     "l"(__cvta_generic_to_global(from)), "n"(bytes), "r"(used)
                     : "memory");
    }
}

template <int bytes> __device__ __forceinline__ void cp_async(void *to, const void *from) {
    cp_async_zfill<bytes>(to, from, bytes);
}

__device__ __forceinline__ void cp_async_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int groups> __device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

__device__ __forceinline__ void cp_async_wait_all() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

#define SIMT_LDMATRIX_X1(NAME, QUALIFIER)                                                          \
    __device__ __forceinline__ void NAME(unsigned(&to)[1], const void *row) {                      \
        asm volatile("ldmatrix.sync.aligned.m8n8.x1" QUALIFIER ".shared.b16 {%0}, [%1];"           \
                     : "=r"(to[0])                                                                 \
                     : "r"(shared_address(row))                                                    \
                     : "memory");                                                                  \
    }

#define SIMT_LDMATRIX_X2(NAME, QUALIFIER)                                                          \
    __device__ __forceinline__ void NAME(unsigned(&to)[2], const void *row) {                      \
        asm volatile("ldmatrix.sync.aligned.m8n8.x2" QUALIFIER ".shared.b16 {%0, %1}, [%2];"       \
                     : "=r"(to[0]), "=r"(to[1])                                                    \
                     : "r"(shared_address(row))                                                    \
                     : "memory");                                                                  \
    }

#define SIMT_LDMATRIX_X4(NAME, QUALIFIER)                                                          \
    __device__ __forceinline__ void NAME(unsigned(&to)[4], const void *row) {                      \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4" QUALIFIER                                     \
                     ".shared.b16 {%0, %1, %2, %3}, [%4];"                                         \
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])                          \
                     : "r"(shared_address(row))                                                    \
                     : "memory");                                                                  \
    }

SIMT_LDMATRIX_X1(ldmatrix_x1, "")
SIMT_LDMATRIX_X2(ldmatrix_x2, "")
SIMT_LDMATRIX_X4(ldmatrix_x4, "")
SIMT_LDMATRIX_X1(ldmatrix_x1_trans, ".trans")
SIMT_LDMATRIX_X2(ldmatrix_x2_trans, ".trans")
SIMT_LDMATRIX_X4(ldmatrix_x4_trans, ".trans")

#define SIMT_MMA(NAME, TYPES)                                                                      \
    __device__ __forceinline__ void NAME(float(&d)[4], const unsigned(&a)[4],                      \
                                         const unsigned(&b)[2], const float(&c)[4]) {              \
        asm volatile("mma.sync.aligned.m16n8k16.row.col." TYPES                                    \
                     " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"        \
                     : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),           \
                       "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));                                \
    }

SIMT_MMA(mma_m16n8k16, "f32.f16.f16.f32")
SIMT_MMA(mma_m16n8k16_bf16, "f32.bf16.bf16.f32")

} // namespace simt

#endif
