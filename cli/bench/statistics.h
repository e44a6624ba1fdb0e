/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of measured numbers. */
#ifndef CHUNKPROOF_CLI_BENCH_STATISTICS_H
#define CHUNKPROOF_CLI_BENCH_STATISTICS_H

/* The most rounds of a cell. */
#define BENCH_MOST_ROUNDS 64

/* Median, smallest and largest value over the rounds. */
struct bench_spread {
    double median, least, most;
};

/* 1 <= n <= BENCH_MOST_ROUNDS. For an even n, the median is the mean of the two in the middle. */
struct bench_spread bench_spread_of(const double *x, int n);

/* Of a[i] / b[i], b[i] > 0. What slowed down a whole round cancels out. */
struct bench_spread bench_ratio_of(const double *a, const double *b, int n);

/* y = factor * x^exponent, fitted by least squares of the logarithms. */
struct bench_law {
    double factor, exponent;
    double off; /* the largest ratio of a measured y to the law's, or its inverse; 1: exact */
};

/* x, y > 0. Returns 0, or -1 when there are no two different x. */
int bench_fit_law(const double *x, const double *y, int n, struct bench_law *law);

/* seconds = fixed + bytes * per_byte + flops * per_flop, fitted by least squares of the relative
 * errors; no term is negative. */
struct bench_cost_point {
    double bytes, flops, seconds;
};

struct bench_cost_fit {
    double fixed, per_byte, per_flop; /* seconds */
    double off;                       /* the largest |law / measured - 1| */
};

#define BENCH_COST_TERMS 3

/* Returns 0, or -1 when there are no points. */
int bench_fit_cost(const struct bench_cost_point *point, int n, struct bench_cost_fit *fit);

#endif
