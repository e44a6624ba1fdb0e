/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_fp16.h for the CPU: __half and __half2, their conversions, and operations whose result is
 * the exact one, rounded once. A NaN keeps its sign and leading payload as NUM-2 says; a GPU gives
 * 0x7FFF. */
#ifndef CHUNKPROOF_KERNELS_SIMT_CUDA_HALF_H
#define CHUNKPROOF_KERNELS_SIMT_CUDA_HALF_H

#include <cstdint>
#include <cstring>

#include "chunkproof/number.h"
#include "kernels/simt/vector.h"

namespace simt {

/* Exact. Exponent and fraction are moved to their places in binary32, which makes the number too
 * small by 2^112, also when it is subnormal. */
inline float half_to_float(std::uint16_t half) {
    std::uint32_t bits = (half & 0x7FFFu) << 13;
    float magnitude;
    std::memcpy(&magnitude, &bits, sizeof magnitude);
    magnitude *= 0x1p112f;
    std::memcpy(&bits, &magnitude, sizeof bits);
    if ((half & 0x7C00u) == 0x7C00u) { /* infinity; or a NaN, made quiet */
        bits = 0x7F800000u | (half & 0x3FFu) << 13 | ((half & 0x3FFu) != 0 ? 0x400000u : 0u);
    }
    bits |= (half & 0x8000u) << 16;
    float result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
}

} // namespace simt

struct __half {
    std::uint16_t bits;
};

struct alignas(4) __half2 {
    __half x, y;
};

typedef __half half;
typedef __half2 half2;

inline float __half2float(__half a) {
    return simt::half_to_float(a.bits);
}

inline __half __double2half(double a) {
    return {cp_fp16_from_double(a)};
}

inline __half __float2half_rn(float a) {
    return __double2half(static_cast<double>(a));
}

inline __half __float2half(float a) {
    return __float2half_rn(a);
}

inline unsigned short __half_as_ushort(__half a) {
    return a.bits;
}

inline __half __ushort_as_half(unsigned short bits) {
    return {bits};
}

/* Sum and product of two binary16 are exact in binary64. */
inline __half __hadd(__half a, __half b) {
    return __double2half(double{__half2float(a)} + double{__half2float(b)});
}

inline __half __hsub(__half a, __half b) {
    return __double2half(double{__half2float(a)} - double{__half2float(b)});
}

inline __half __hmul(__half a, __half b) {
    return __double2half(double{__half2float(a)} * double{__half2float(b)});
}

inline __half2 __halves2half2(__half low, __half high) {
    return {low, high};
}

inline __half __low2half(__half2 a) {
    return a.x;
}

inline __half __high2half(__half2 a) {
    return a.y;
}

inline float __low2float(__half2 a) {
    return __half2float(a.x);
}

inline float __high2float(__half2 a) {
    return __half2float(a.y);
}

inline float2 __half22float2(__half2 a) {
    return {__half2float(a.x), __half2float(a.y)};
}

inline __half2 __floats2half2_rn(float low, float high) {
    return {__float2half_rn(low), __float2half_rn(high)};
}

inline __half2 __float22half2_rn(float2 a) {
    return __floats2half2_rn(a.x, a.y);
}

#endif
