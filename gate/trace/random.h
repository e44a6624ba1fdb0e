/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers in integer arithmetic only: the same on every machine and with every compiler. */
#ifndef CHUNKPROOF_GATE_TRACE_RANDOM_H
#define CHUNKPROOF_GATE_TRACE_RANDOM_H

struct trace_random {
    unsigned long long state; /* any value is a seed */
};

/* Uniform over 64 bits (splitmix64). */
unsigned long long trace_random_next(struct trace_random *random);

/* Uniform over 0 .. n-1, 1 <= n <= 2^31; the bias is below n / 2^32. */
int trace_random_below(struct trace_random *random, int n);

/* -ln(x / 2^64) for x >= 1, in units of 2^-24; off by less than 4 units. */
unsigned long long trace_minus_log(unsigned long long x);

/* Exponentially distributed with this mean, rounded down; mean <= 2^32. */
long long trace_random_exponential(struct trace_random *random, long long mean);

#endif
