/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers in integer arithmetic only: the same on every machine and with every compiler. */
#ifndef CHUNKPROOF_GATE_RANDOM_H
#define CHUNKPROOF_GATE_RANDOM_H

struct gate_random {
    unsigned long long state; /* any value is a seed */
};

/* Uniform over 64 bits (splitmix64). */
unsigned long long gate_random_next(struct gate_random *random);

/* Uniform over 0 .. n-1, 1 <= n <= 2^31; the bias is below n / 2^32. */
int gate_random_below(struct gate_random *random, int n);

/* -ln(x / 2^64) for x >= 1, in units of 2^-24; off by less than 4 units. */
unsigned long long gate_minus_log(unsigned long long x);

/* Exponentially distributed with this mean, rounded down; mean <= 2^32. */
long long gate_random_exponential(struct gate_random *random, long long mean);

#endif
