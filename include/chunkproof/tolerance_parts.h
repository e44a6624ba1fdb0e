/* SPDX-License-Identifier: Apache-2.0 */
/* What the certified tolerance is made of, and how large an error is usual (spec/tolerance.md): to explain a
 * bound, and to choose an arithmetic class. No verdict rests on anything here. */
#ifndef CHUNKPROOF_TOLERANCE_PARTS_H
#define CHUNKPROOF_TOLERANCE_PARTS_H

#include "chunkproof/tolerance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The parts of a kernel that err. */
#define CP_PART_SCORES     0 /* sigma */
#define CP_PART_EXP        1 /* the exponential: its argument, its result, what underflows */
#define CP_PART_WEIGHTS    2 /* P rounded to its format */
#define CP_PART_SUMS       3 /* the sums over the keys, for n and for o */
#define CP_PART_MERGES     4 /* changes of the reference, two operations for each, and the stores */
#define CP_PART_OUTPUT     5 /* the division and the output's format */
#define CP_TOLERANCE_PARTS 6

/* NUM-10, term by term: parts[i][p], [head_dim][CP_TOLERANCE_PARTS], add up over p to B of column i, where
 * `expected` is what cp_tolerance() wrote. A product of two errors goes with the first of them. lost[p] add up
 * to 1 - left; left is returned, -INFINITY where there is no key or there are too many. Where it is not above 0,
 * all parts are INFINITY. Computed in binary64 without cp_tolerance()'s care: right to some digits, and not
 * always above. */
double cp_tolerance_parts(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                          const struct cp_tolerance_row *row, const double *expected, double *parts,
                          double *lost);

/* NUM-13: rms[i] is about the error to be expected in column i if roundings are independent: the root of the
 * sum of the squares of their bounds, each divided by 3, the variance of a uniform distribution. Never above B.
 * A WARNING LEVEL ONLY: a right kernel may exceed it, and a wrong one stay below. INFINITY where there is no key
 * or there are too many; it says nothing where the bound is INFINITY, and too little where all roundings go in
 * one direction (cut off instead of rounded). */
void cp_tolerance_rms(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                      const struct cp_tolerance_row *row, const double *expected, double *rms);

#ifdef __cplusplus
}
#endif

#endif
