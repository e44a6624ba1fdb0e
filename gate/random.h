/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers in integer arithmetic only: the same on every machine and with every compiler. */
#ifndef CHUNKPROOF_GATE_RANDOM_H
#define CHUNKPROOF_GATE_RANDOM_H

struct gate_random {
    unsigned long long state; /* any value is a seed */
};

/* Each number adds as much to the state. */
#define GATE_RANDOM_STEP 0x9E3779B97F4A7C15ULL

/* Uniform over 64 bits (splitmix64). */
static inline unsigned long long gate_random_next(struct gate_random *random) {
    random->state += GATE_RANDOM_STEP;
    unsigned long long x = random->state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

/* As if `n` numbers had been taken. */
static inline void gate_random_skip(struct gate_random *random, unsigned long long n) {
    random->state += n * GATE_RANDOM_STEP;
}

/* Uniform over 0 .. n-1, 1 <= n <= 2^31; the bias is below n / 2^32. */
static inline int gate_random_below(struct gate_random *random, int n) {
    return (int)(((gate_random_next(random) >> 32) * (unsigned long long)n) >> 32);
}

/* -ln(x / 2^64) for x >= 1, in units of 2^-24; off by less than 4 units. */
unsigned long long gate_minus_log(unsigned long long x);

/* Exponentially distributed with this mean, rounded down; mean <= 2^32. */
long long gate_random_exponential(struct gate_random *random, long long mean);

#endif
