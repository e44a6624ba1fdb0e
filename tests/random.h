/* SPDX-License-Identifier: Apache-2.0 */
/* Repeatable random numbers for tests: splitmix64, one word of state, which is the seed. */
#ifndef CHUNKPROOF_TESTS_RANDOM_H
#define CHUNKPROOF_TESTS_RANDOM_H

static inline unsigned long long random_bits(unsigned long long *state) {
    unsigned long long z = (*state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/* 0 .. n-1, n >= 1. */
static inline int random_below(unsigned long long *state, int n) {
    return (int)(random_bits(state) % (unsigned)n);
}

/* In [-1, 1). */
static inline double random_uniform(unsigned long long *state) {
    return (double)(random_bits(state) >> 11) * 0x1p-52 - 1.0;
}

/* Mean 0, variance 1, nearly normal: the sum of twelve numbers of variance 1/12 each. */
static inline double random_normal(unsigned long long *state) {
    double sum = 0.0;
    for (int i = 0; i < 12; i++) {
        sum += random_uniform(state);
    }
    return 0.5 * sum;
}

#endif
