/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of kernels over finite fields. Nothing is rounded: a kernel that computes
 * attention gives exactly what the formula gives, and a kernel that loses a key, a rescaling or a
 * head gives something else.
 *
 * Scores are in Z_q and weights in Z_p, where p = 2 q + 1 and both are prime. w = 4 has order q in
 * Z_p. So w^s can stand for e^s: w^(a + b) = w^a w^b. A maximum may be any score on which all parts
 * agree; here it is the greatest in an arbitrary order. Both fields fit into 16 bits, as the
 * elements of Q, K and V must. */
#ifndef CHUNKPROOF_KERNELS_FIELD_H
#define CHUNKPROOF_KERNELS_FIELD_H

#include <cstddef>
#include <cstdint>

#include "kernels/simt/cuda.h"

namespace chunkproof {

struct Field {
    static const unsigned q = 32633;
    static const unsigned p = 65267;

    static const bool OF_8_BITS = false;
    static const bool HAS_MASK = false;
    typedef std::uint16_t Key;   /* of Z_q */
    typedef std::uint16_t Value; /* of Z_p */
    typedef Key StoredKey;
    typedef Value StoredValue;
    typedef unsigned CacheScale; /* of Z_q for K, of Z_p for V */
    typedef unsigned Score;      /* of Z_q, or none() */
    typedef unsigned Weight;     /* of Z_p */
    typedef unsigned Scale;      /* of Z_q */
    typedef unsigned Log;        /* of Z_p: the sum of w^s itself, without a logarithm */
    typedef unsigned Given;      /* of Z_q: slopes, biases and sinks */
    typedef unsigned Cap;        /* of Z_q; 0: none */

    static __device__ Score none() {
        return 0xFFFFFFFFu;
    }

    static __device__ Score no_product() {
        return 0;
    }

    static __device__ Score add_product(Score sum, Key a, Key b) {
        return (sum + static_cast<unsigned>(a) * b % q) % q;
    }

    static __device__ Score scaled(Score sum, Scale scale) {
        return sum * scale % q;
    }

    static __device__ Scale scaled_already() {
        return 1;
    }

    static __host__ __device__ bool is_cap(Cap cap) {
        return cap != 0;
    }

    /* There is no tanh here, and the cube stands for it. That of a sum is not the sum of the cubes,
     * so that it shows what is capped. */
    static __device__ Score capped(Score s, Cap cap) {
        return s * s % q * s % q * cap % q;
    }

    static __device__ Score score_of(Given x) {
        return x;
    }

    static __device__ Score biased(Score s, Score slope, long long distance) {
        long long left = distance % q;
        return (s + slope * static_cast<unsigned>(left < 0 ? left + q : left) % q) % q;
    }

    static __device__ Score sum(Score a, Score b) {
        return (a + b) % q;
    }

    static __device__ Score maximum(Score a, Score b) {
        return place(a) > place(b) ? a : b;
    }

    static __device__ Weight exponential(Score a, Score b) {
        return a == none() ? 0 : power(4, (a + q - b) % q);
    }

    static __device__ Weight zero() {
        return 0;
    }

    static __device__ Weight one() {
        return 1;
    }

    /* It cannot say so: weights add up to 0 elsewhere, too. */
    static __device__ bool is_of_none(Weight) {
        return false;
    }

    static __device__ Weight add(Weight a, Weight b) {
        return (a + b) % p;
    }

    /* No overflow: p^2 is below 2^32. */
    static __device__ Weight multiply(Weight a, Weight b) {
        return a * b % p;
    }

    static __device__ Weight add_weighted(Weight sum, Weight weight, Value v) {
        return add(sum, multiply(weight, v));
    }

    /* The inverse of n is n^(p - 2). 0 has no inverse, and this gives 0. */
    static __device__ void store_mean(void *out, int, std::size_t at, Weight o, Weight n) {
        static_cast<Weight *>(out)[at] = multiply(o, power(n, p - 2));
    }

    static __device__ Log log_sum(Score m, Weight n) {
        return m == none() ? 0 : multiply(n, power(4, m));
    }

    static __device__ Weight power(Weight x, unsigned exponent) {
        Weight result = 1;
        for (; exponent != 0; exponent /= 2) {
            result = exponent % 2 == 1 ? multiply(result, x) : result;
            x = multiply(x, x);
        }
        return result;
    }

#ifndef __CUDACC__
    /* c += a b for tiles of a warp: first q k for scores, then weights times V. */
    static void multiply_tiles_of_keys(Score (&c)[4], const unsigned (&a)[4],
                                       const unsigned (&b)[2]) {
        simt::mma_m16n8k16(
            c, a, b, c, [](unsigned sum, unsigned x, unsigned y) { return (sum + x * y % q) % q; });
    }

    static void multiply_tiles_of_values(Weight (&c)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
        simt::mma_m16n8k16(
            c, a, b, c, [](unsigned sum, unsigned x, unsigned y) { return (sum + x * y % p) % p; });
    }
#endif

    /* Two weights as elements of a tile. */
    static __device__ unsigned packed(Weight low, Weight high) {
        return low | high << 16;
    }

  private:
    /* The order of maximum(): none() is below every score. */
    static __device__ unsigned place(Score a) {
        return a == none() ? 0 : 1 + a * 20011u % q;
    }
};

/* A cache of 8 bits (cache.h). A byte can stand for any number of both fields that depends on its
 * type. */
struct FieldCached : Field {
    static const bool OF_8_BITS = true;
    typedef std::uint8_t StoredKey;
    typedef std::uint8_t StoredValue;
    typedef unsigned Wide;

    static __host__ __device__ Wide wide(int type, std::uint8_t x) {
        return x * (3u + 17u * static_cast<unsigned>(type));
    }

    static __device__ Wide scaled_value(Wide v, CacheScale scale) {
        return v * scale % p;
    }
};

} // namespace chunkproof

#endif
