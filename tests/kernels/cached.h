/* SPDX-License-Identifier: Apache-2.0 */
/* A case whose K and V have 8 bits. */
#ifndef CHUNKPROOF_TESTS_KERNELS_CACHED_H
#define CHUNKPROOF_TESTS_KERNELS_CACHED_H

#include <cmath>
#include <cstddef>

extern "C" {
#include "tests/attend_case.h"
#include "tests/kept_case.h"
}

/* NUM-18: K and V of 8 bits in place of those of a case, of any two types, with each kind of scales
 * in turn, and now and then without those of K or of V. */
struct CacheOf {
    attend_case &c;
    kept k, v;
    cp_attention before;

    CacheOf(attend_case &of, int seed) : c(of) {
        unsigned long long random = static_cast<unsigned long long>(seed);
        const int types[] = {CP_E4M3, CP_E5M2, CP_INT8};
        const int per = seed % 3, without = seed / 5 % 6;
        k = kept_case_make(&c, c.k, per, types[seed / 3 % 3], 0, &random);
        v = kept_case_make(&c, c.v, per, types[seed / 9 % 3], 0, &random);
        before = kept_case_take(&c, &k, &v, per);
        if (without == 1) {
            drop(c.attention.scales.k, k, c.k);
        } else if (without == 2) {
            drop(c.attention.scales.v, v, c.v);
        }
    }

    ~CacheOf() {
        kept_case_free(&k);
        kept_case_free(&v);
        c.attention = before;
    }
    CacheOf(const CacheOf &) = delete;
    CacheOf &operator=(const CacheOf &) = delete;

    /* Numbers stand for themselves. */
    void drop(const float *&scales, const kept &one, double *exact) {
        std::size_t n = static_cast<std::size_t>(c.plan->capacity) * c.shape.n_kv_heads *
                        c.shape.chunk_size * c.shape.head_dim;
        scales = nullptr;
        for (std::size_t i = 0; i < n; i++) {
            exact[i] = std::isnan(exact[i]) ? NAN : cp_number_load(one.numbers, one.type, i);
        }
    }
};

#endif
