/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of kernels in floating point: Q, K and V in binary16, everything else in binary32
 * (NUM-7). */
#ifndef CHUNKPROOF_KERNELS_REAL_H
#define CHUNKPROOF_KERNELS_REAL_H

#include <cmath>
#include <cstddef>

#include "chunkproof/number.h"
#include "kernels/simt/cuda.h"

namespace chunkproof {

/* Scores are in nats. `out` holds CP_FP16 or CP_FP32. */
struct Real {
    typedef __half Key;
    typedef __half Value;
    typedef float Score;
    typedef float Weight;
    typedef float Scale;
    typedef double Log;
    typedef double Given; /* slopes and sinks, as the caller has them */

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
        return sum + __half2float(q) * __half2float(k);
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

    /* A slope or a sink in the unit of scores. */
    static __device__ Score score_of(Given x) {
        return static_cast<float>(x);
    }

    /* A distance below 2^24 is exact. */
    static __device__ Score biased(Score s, Score slope, long long distance) {
        return s + slope * static_cast<float>(distance);
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
        return sum + weight * __half2float(v);
    }

    /* MERGE-6 */
    static __device__ void store_mean(void *out, int out_type, std::size_t at, Weight o, Weight n) {
        float mean = n == 0.0f ? 0.0f : o / n;
        if (out_type == CP_FP16) {
            static_cast<__half *>(out)[at] = __float2half_rn(mean);
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
        simt::mma_m16n8k16(c, a, b, c);
    }

    static __device__ void multiply_tiles_of_values(Weight (&c)[4], const unsigned (&a)[4],
                                                    const unsigned (&b)[2]) {
        simt::mma_m16n8k16(c, a, b, c);
    }

    /* Two weights, rounded to binary16, as elements of a tile. */
    static __device__ unsigned packed(Weight low, Weight high) {
        return __half_as_ushort(__float2half_rn(low)) |
               static_cast<unsigned>(__half_as_ushort(__float2half_rn(high))) << 16;
    }
};

/* The same with scores in bits: the scale has the factor log2(e), as caps, slopes and sinks have,
 * and the exponential is a power of two. */
struct RealInBits : Real {
    static constexpr double LOG2_E = 1.4426950408889634;

    static float scale_of(double scale) {
        return static_cast<float>(scale * LOG2_E);
    }

    static Cap cap_of(double cap) {
        return Real::cap_of(cap * LOG2_E);
    }

    static __device__ Score score_of(Given x) {
        return static_cast<float>(x * LOG2_E);
    }

    static __device__ Weight exponential(Score a, Score b) {
        return a == none() ? 0.0f : exp2f(a - b);
    }

    static __device__ Log log_sum(double m, Weight n) {
        return Real::log_sum(m * 0.6931471805599453, n);
    }
};

} // namespace chunkproof

#endif
