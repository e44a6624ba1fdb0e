/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers in integer arithmetic only: the same on every machine and with every compiler. */
#ifndef CHUNKPROOF_CLI_BASE_RANDOM_H
#define CHUNKPROOF_CLI_BASE_RANDOM_H

struct prng {
    unsigned long long state; /* any value is a seed */
};

/* Each number adds this much to the state. */
#define PRNG_STEP 0x9E3779B97F4A7C15ULL

/* The next number, uniform over 64 bits (splitmix64). */
static inline unsigned long long prng_next(struct prng *random) {
    random->state += PRNG_STEP;
    unsigned long long x = random->state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

/* Skips `n` numbers. */
static inline void prng_skip(struct prng *random, unsigned long long n) {
    random->state += n * PRNG_STEP;
}

/* Uniform over 0 .. n-1, 1 <= n <= 2^31; the bias is below n / 2^32. */
static inline int prng_below(struct prng *random, int n) {
    return (int)(((prng_next(random) >> 32) * (unsigned long long)n) >> 32);
}

/* -ln(x / 2^64) for x >= 1, in units of 2^-24; off by less than 4 units. */
unsigned long long prng_minus_log(unsigned long long x);

/* Exponentially distributed with this mean, rounded down; mean <= 2^32. */
long long prng_exponential(struct prng *random, long long mean);

#endif
