/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_bf16.h for the CPU: __nv_bfloat16 and __nv_bfloat162 and their conversions, which are what a
 * kernel of attention needs. A NaN becomes 0x7FFF, as on a GPU. */
#ifndef CHUNKPROOF_KERNELS_SIMT_CUDA_BFLOAT_H
#define CHUNKPROOF_KERNELS_SIMT_CUDA_BFLOAT_H

#include <cstdint>
#include <cstring>

#include "kernels/simt/vector.h"

namespace simt {

/* Exact. */
inline float bfloat_to_float(std::uint16_t bfloat) {
    std::uint32_t bits = static_cast<std::uint32_t>(bfloat) << 16;
    float result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
}

} // namespace simt

struct __nv_bfloat16 {
    std::uint16_t x;
};

struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline float __bfloat162float(__nv_bfloat16 a) {
    return simt::bfloat_to_float(a.x);
}

/* To nearest, ties to even; a NaN stays one. */
inline __nv_bfloat16 __float2bfloat16_rn(float a) {
    std::uint32_t bits;
    std::memcpy(&bits, &a, sizeof bits);
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
