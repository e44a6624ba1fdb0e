/* SPDX-License-Identifier: Apache-2.0 */
/* bfloat16 under CUDA's names: conversions, which are what a kernel of attention needs. */
#ifndef CHUNKPROOF_KERNELS_SIMT_AS_CUDA_BF16_H
#define CHUNKPROOF_KERNELS_SIMT_AS_CUDA_BF16_H

#include "kernels/simt/as_cuda/cuda_runtime.h"

struct __nv_bfloat16 {
    std::uint16_t x;
};

struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline float __bfloat162float(__nv_bfloat16 a) {
    return __uint_as_float(static_cast<unsigned>(a.x) << 16);
}

/* To nearest, ties to even; a NaN stays one. */
inline __nv_bfloat16 __float2bfloat16_rn(float a) {
    unsigned bits = __float_as_uint(a);
    if (a != a) {
        return {0x7FFF};
    }
    return {static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16)};
}

inline __nv_bfloat16 __float2bfloat16(float a) {
    return __float2bfloat16_rn(a);
}

inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) {
    return a.x;
}

inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    return {bits};
}

inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) {
    return a.x;
}

inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) {
    return a.y;
}

inline float2 __bfloat1622float2(__nv_bfloat162 a) {
    return {__bfloat162float(a.x), __bfloat162float(a.y)};
}

inline __nv_bfloat162 __floats2bfloat162_rn(float low, float high) {
    return {__float2bfloat16_rn(low), __float2bfloat16_rn(high)};
}

#endif
