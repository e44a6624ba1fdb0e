/* SPDX-License-Identifier: Apache-2.0 */
/* How far an implementation in double may be from the oracle: a forward error bound, derived in
 * bound.c. No constant is fitted to measurements. */
#ifndef CHUNKPROOF_TESTS_BOUND_H
#define CHUNKPROOF_TESTS_BOUND_H

/* Unit roundoff of double, and the factor that makes (1 + e)^k with |e| <= u at most exp(k U) and
 * at least exp(-k U), for e up to 2u too. */
#define BOUND_U     0x1p-53
#define BOUND_BIG_U (BOUND_U / (1.0 - 2.0 * BOUND_U))

/* q, k, v, n, d, scale as for oracle_attention(); the implementation merges `n_parts` >= 1 partial
 * results, in any order, of at most `largest_part` keys each. Writes for each of the d outputs how
 * far apart two results can be, each the oracle's or such an implementation's, before they are
 * rounded to an output type. Returns the same for the log-sum-exp. */
double bound_attention(const double *q, const double *k, const double *v, int n, int d,
                       double scale, int n_parts, int largest_part, double *bound);

/* The same after the implementation has rounded its output to `type` (number.h); `expected` is the
 * oracle's. */
double bound_rounded(int type, double expected, double bound);

#endif
