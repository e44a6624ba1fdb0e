/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of kernels in floating point: Q, K and V in binary16 or in bfloat16, everything
 * else in binary32 (NUM-7). */
#ifndef CHUNKPROOF_KERNELS_REAL_H
#define CHUNKPROOF_KERNELS_REAL_H

#include <cmath>
#include <cstddef>

#include "chunkproof/number.h"
#include "kernels/simt/cuda.h"

namespace chunkproof {

/* What Q, K and V are of. Products of two such numbers are exact in binary32, as long as they are
 * normal numbers there. */
struct Binary16 {
    typedef __half Number;

    static __device__ float wide(Number x) {
        return __half2float(x);
    }

    static __device__ Number rounded(float x) {
        return __float2half_rn(x);
    }

    /* Two numbers, rounded, as elements of a tile; and c += a b for tiles of a warp. */
    static __device__ unsigned packed(float low, float high) {
        return __half_as_ushort(__float2half_rn(low)) |
               static_cast<unsigned>(__half_as_ushort(__float2half_rn(high))) << 16;
    }

    static __device__ void multiply_tiles(float (&c)[4], const unsigned (&a)[4],
                                          const unsigned (&b)[2]) {
        simt::mma_m16n8k16(c, a, b, c);
    }
};

struct Bfloat16 {
    typedef __nv_bfloat16 Number;

    static __device__ float wide(Number x) {
        return __bfloat162float(x);
    }

    static __device__ Number rounded(float x) {
        return __float2bfloat16_rn(x);
    }

    static __device__ unsigned packed(float low, float high) {
        __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
        return __bfloat16_as_ushort(__low2bfloat16(pair)) |
               static_cast<unsigned>(__bfloat16_as_ushort(__high2bfloat16(pair))) << 16;
    }

    static __device__ void multiply_tiles(float (&c)[4], const unsigned (&a)[4],
                                          const unsigned (&b)[2]) {
        simt::mma_m16n8k16_bf16(c, a, b, c);
    }
};

/* Scores are in nats. `out` holds CP_FP32, or numbers of the format. */
template <class Format> struct RealOf {
    static const bool OF_8_BITS = false; /* K and V, which then are of StoredKey (cache.h) */
    static const bool HAS_MASK = false;  /* of bits (mask.h) */
    typedef typename Format::Number Key; /* as they are multiplied */
    typedef typename Format::Number Value;
    typedef Key StoredKey;
    typedef Value StoredValue;
    typedef float CacheScale;
    typedef float Score;
    typedef float Weight;
    typedef float Scale;
    typedef double Log;
    typedef double Given; /* slopes, biases and sinks, as the caller has them */

    /* SCORE-1, in the unit of scores; zeros: none. */
    struct Cap {
        float cap, inverse; /* and 1 / cap */
    };

    /* The maximum of no score. */
    static __device__ Score none() {
        return -INFINITY;
    }

    static __device__ Score no_product() {
        return 0.0f;
    }

    /* The product is exact in binary32, so it does not matter whether it is fused with the
     * addition. */
    static __device__ Score add_product(Score sum, Key q, Key k) {
        return sum + Format::wide(q) * Format::wide(k);
    }

    static __device__ float wide_query(Key q) {
        return Format::wide(q);
    }

    static Scale scale_of(double scale) {
        return static_cast<float>(scale);
    }

    static __device__ Score scaled(Score sum, Scale scale) {
        return scale * sum;
    }

    /* Of a score that is scaled already. */
    static __device__ Scale scaled_already() {
        return 1.0f;
    }

    static Cap cap_of(double cap) {
        float inverse = cap == 0.0 ? 0.0f : static_cast<float>(1.0 / cap);
        return {static_cast<float>(cap), inverse};
    }

    static __host__ __device__ bool is_cap(const Cap &cap) {
        return cap.cap != 0.0f;
    }

    static __device__ Score capped(Score s, const Cap &cap) {
        return cap.cap * tanhf(s * cap.inverse);
    }

    /* A slope, a bias or a sink in the unit of scores. */
    static __device__ Score score_of(Given x) {
        return static_cast<float>(x);
    }

    /* A distance below 2^24 is exact. */
    static __device__ Score biased(Score s, Score slope, long long distance) {
        return s + slope * static_cast<float>(distance);
    }

    static __device__ Score sum(Score a, Score b) {
        return a + b;
    }

    static __device__ Score maximum(Score a, Score b) {
        return fmaxf(a, b);
    }

    /* e^(a - b) for a <= b; 0 for no score. */
    static __device__ Weight exponential(Score a, Score b) {
        return a == none() ? 0.0f : expf(a - b);
    }

    static __device__ Weight zero() {
        return 0.0f;
    }

    static __device__ Weight one() {
        return 1.0f;
    }

    /* Does this sum of weights say that there was no key? */
    static __device__ bool is_of_none(Weight n) {
        return n == zero();
    }

    static __device__ Weight add(Weight a, Weight b) {
        return a + b;
    }

    static __device__ Weight multiply(Weight a, Weight b) {
        return a * b;
    }

    static __device__ Weight add_weighted(Weight sum, Weight weight, Value v) {
        return sum + weight * Format::wide(v);
    }

    /* MERGE-6 */
    static __device__ void store_mean(void *out, int out_type, std::size_t at, Weight o, Weight n) {
        float mean = n == 0.0f ? 0.0f : o / n;
        if (out_type != CP_FP32) {
            static_cast<typename Format::Number *>(out)[at] = Format::rounded(mean);
        } else {
            static_cast<float *>(out)[at] = mean;
        }
    }

    /* MERGE-7 */
    static __device__ Log log_sum(double m, Weight n) {
        return n == 0.0f ? -INFINITY : m + log(static_cast<double>(n));
    }

    /* c += a b for tiles of a warp: first q k for scores, then weights times V. */
    static __device__ void multiply_tiles_of_keys(Score (&c)[4], const unsigned (&a)[4],
                                                  const unsigned (&b)[2]) {
        Format::multiply_tiles(c, a, b);
    }

    static __device__ void multiply_tiles_of_values(Weight (&c)[4], const unsigned (&a)[4],
                                                    const unsigned (&b)[2]) {
        Format::multiply_tiles(c, a, b);
    }

    /* Two weights, rounded to the format, as elements of a tile. */
    static __device__ unsigned packed(Weight low, Weight high) {
        return Format::packed(low, high);
    }
};

/* The same with scores in bits: the scale has the factor log2(e), as caps, slopes, biases and sinks
 * have, and the exponential is a power of two. */
template <class Nats> struct InBits : Nats {
    typedef typename Nats::Score Score;
    typedef typename Nats::Weight Weight;
    typedef typename Nats::Given Given;
    typedef typename Nats::Cap Cap;
    typedef typename Nats::Log Log;
    static constexpr double LOG2_E = 1.4426950408889634;

    static float scale_of(double scale) {
        return static_cast<float>(scale * LOG2_E);
    }

    static Cap cap_of(double cap) {
        return Nats::cap_of(cap * LOG2_E);
    }

    static __device__ Score score_of(Given x) {
        return static_cast<float>(x * LOG2_E);
    }

    static __device__ Weight exponential(Score a, Score b) {
        return a == Nats::none() ? 0.0f : exp2f(a - b);
    }

    static __device__ Log log_sum(double m, Weight n) {
        return Nats::log_sum(m * 0.6931471805599453, n);
    }
};

struct Real : RealOf<Binary16> {};
struct RealInBits : InBits<Real> {};
struct RealBf16 : RealOf<Bfloat16> {};
struct RealBf16InBits : InBits<RealBf16> {};

} // namespace chunkproof

#endif
