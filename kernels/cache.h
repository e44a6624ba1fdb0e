/* SPDX-License-Identifier: Apache-2.0 */
/* K and V of 8 bits, with scales (NUM-16 to NUM-19). Such a call has an arithmetic of its own,
 * Cached<A>, in which all but the cache is as in A; its types and what has a scale are numbers of
 * the call. Numbers are converted one way, and exactly:
 *
 *     a byte  ->  binary32  ->  16 bits, as tiles have them
 *
 * Each function below does nothing for a cache of 16 bits. */
#ifndef CHUNKPROOF_KERNELS_CACHE_H
#define CHUNKPROOF_KERNELS_CACHE_H

#include <cstdint>

#include "kernels/problem.h"
#include "kernels/real.h"

namespace chunkproof {

/* NUM-16. The exponent is moved to its place in binary32, which makes the number too small by
 * 2^120, also where it is subnormal. */
__device__ inline float e4m3_to_float(unsigned x) {
    float magnitude = __uint_as_float((x & 0x7Fu) << 20) * 0x1p120f;
    unsigned bits = (x & 0x7Fu) == 0x7Fu ? 0x7FC00000u : __float_as_uint(magnitude);
    return __uint_as_float(bits | (x & 0x80u) << 24);
}

/* A binary16 of which the lower half is 0. */
__device__ inline float e5m2_to_float(unsigned x) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(x << 8)));
}

__device__ inline float int8_to_float(unsigned x) {
    return static_cast<float>(static_cast<signed char>(x));
}

/* Every number of 8 bits is exact in binary16 and in bfloat16, and so is its product with one of
 * them in binary32. */
template <class Plain> struct Cached : Plain {
    static const bool OF_8_BITS = true;
    typedef std::uint8_t StoredKey;
    typedef std::uint8_t StoredValue;
    typedef float Wide; /* a number of the cache */

    static __device__ Wide wide(int type, std::uint8_t x) {
        return type == CP_E4M3   ? e4m3_to_float(x)
               : type == CP_E5M2 ? e5m2_to_float(x)
                                 : int8_to_float(x);
    }

    static __device__ Wide scaled_value(Wide v, typename Plain::CacheScale scale) {
        return v * scale;
    }

    using Plain::add_product;
    static __device__ typename Plain::Score add_product(typename Plain::Score sum,
                                                        typename Plain::Key q, Wide k) {
        return sum + Plain::wide_query(q) * k;
    }

    using Plain::add_weighted;
    static __device__ typename Plain::Weight add_weighted(typename Plain::Weight sum,
                                                          typename Plain::Weight weight, Wide v) {
        return sum + weight * v;
    }
};

struct RealCache : Cached<Real> {};
struct RealCacheInBits : Cached<RealInBits> {};
struct RealBf16Cache : Cached<RealBf16> {};
struct RealBf16CacheInBits : Cached<RealBf16InBits> {};

/* A number of K, or of V: as it is stored, or wide. */
template <class A> __device__ auto key_number(const Problem<A> &p, typename A::StoredKey k) {
    if constexpr (A::OF_8_BITS) {
        return A::wide(p.k_type, k);
    } else {
        return k;
    }
}

/* The scale of V is in it: `at` is that of scale_at(). */
template <class A>
__device__ auto value_number(const Problem<A> &p, typename A::StoredValue v, std::size_t at) {
    if constexpr (A::OF_8_BITS) {
        typename A::Wide wide = A::wide(p.v_type, v);
        return p.v_scales == nullptr ? wide : A::scaled_value(wide, p.v_scales[at]);
    } else {
        return v;
    }
}

/* NUM-18: which scale a key has. */
template <class A>
__device__ std::size_t scale_at(const Problem<A> &p, int chunk, int kv_head, int slot) {
    if constexpr (A::OF_8_BITS) {
        return cp_scale_at(&p, p.per, chunk, kv_head, slot);
    } else {
        return 0;
    }
}

/* A score, once it is scaled, times the scale of its key. */
template <class A>
__device__ typename A::Score times_scale_of_key(const Problem<A> &p, typename A::Score s,
                                                std::size_t at) {
    if constexpr (A::OF_8_BITS) {
        return p.k_scales == nullptr ? s : A::scaled(s, p.k_scales[at]);
    } else {
        return s;
    }
}

/* Eight numbers of a cache, each times a scale, rounded to 16 bits as elements of a tile. By 1 all
 * are exact. */
template <class A>
__device__ uint4 unpacked(int type, unsigned low, unsigned high, typename A::CacheScale scale) {
    unsigned pairs[4];
    SIMT_UNROLL
    for (int i = 0; i < 4; i++) {
        unsigned two = (i < 2 ? low : high) >> (i % 2 * 16);
        typename A::Wide first = A::wide(type, static_cast<std::uint8_t>(two));
        typename A::Wide second = A::wide(type, static_cast<std::uint8_t>(two >> 8));
        pairs[i] = A::packed(A::scaled_value(first, scale), A::scaled_value(second, scale));
    }
    return make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

/* Is a number of V multiplied by its scale, and then rounded? Else o is, which has one scale. */
template <class A> __device__ bool scales_each_value(const Problem<A> &p) {
    return p.per == CP_CACHE_SCALE_TOKEN && p.v_scales != nullptr;
}

/* By what o of a K/V head is multiplied. */
template <class A>
__device__ typename A::CacheScale scale_of_sums(const Problem<A> &p, int kv_head) {
    typename A::CacheScale one = 1;
    return p.v_scales == nullptr || scales_each_value(p) ? one
                                                         : p.v_scales[scale_at(p, 0, kv_head, 0)];
}

/* In shared memory: the scales of a tile of KEYS keys. There are none for a cache of 16 bits. */
template <class A, int KEYS, bool = A::OF_8_BITS> struct ScalesOfTile {};

template <class A, int KEYS> struct ScalesOfTile<A, KEYS, true> {
    typename A::CacheScale k_scale[KEYS];
    typename A::CacheScale v_scale[KEYS];
};

} // namespace chunkproof

#endif
