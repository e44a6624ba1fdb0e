/* SPDX-License-Identifier: Apache-2.0 */
/* NUM-6 and NUM-9 to NUM-12 a second time, as the specification writes them, in interval arithmetic
 * of 400 bits: what cp_tolerance() must not fall below. It shares no code with the reference. */
#ifndef CHUNKPROOF_TESTS_EXACT_BOUND_H
#define CHUNKPROOF_TESTS_EXACT_BOUND_H

#include "chunkproof/tolerance.h"

/* How a claim of cp_tolerance() compares with the formula. */
enum claim {
    CLAIM_HOLDS,       /* at least the formula's, and no more than it must be */
    CLAIM_TOO_SMALL,   /* a result that the formula allows lies outside */
    CLAIM_TOO_LARGE,   /* far above the formula */
    CLAIM_UNFOUNDED,   /* finite, where the formula gives no bound */
    CLAIM_WITHOUT_NEED /* infinite, where the formula gives a bound and binary64 can say so */
};

/* Compares what cp_tolerance() wrote for the row: a claim for each of the head_dim columns, and one
 * for the log-sum-exp. Its rows have a key, and finite numbers. */
void exact_bound_judge(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                       const struct cp_tolerance_row *row, double lse_error, const double *expected,
                       const double *bound, double lse, double lse_bound, enum claim *columns,
                       enum claim *of_lse);

#endif
