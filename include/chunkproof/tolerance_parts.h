/* SPDX-License-Identifier: Apache-2.0 */
/* What the certified tolerance is made of, and how large an error is usual (spec/tolerance.md).
 * Both help to explain a bound and to choose an arithmetic class. No verdict rests on anything
 * here. */
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

/* NUM-10, term by term. parts[i][p], an array [value_dim][CP_TOLERANCE_PARTS], adds up over p to
 * the bound B of column i, where `expected` is what cp_tolerance() wrote. A product of two errors
 * counts as part of the first. lost[p] adds up to 1 - left.
 *
 * Returns left: -INFINITY where there is no key or there are too many, NaN where errors are beyond
 * binary64. When left is not above 0, all parts are INFINITY. Sums are computed in binary64 without
 * cp_tolerance()'s care: they are right to some digits, and may be too small. */
/*@
  requires valid: \valid_read(arithmetic) && \valid_read(counts) && \valid_read(row);
  requires valid_row: row_valid(*row) && \valid_read(COLUMNS_OF(row, expected));
  requires valid_parts: \valid(PARTS_OF(row, parts)) && \valid(lost +
    (0 .. CP_TOLERANCE_PARTS - 1));
  requires apart: \separated(arithmetic, counts, row, SCRATCH_OF(row), PARTS_OF(row, parts),
    lost + (0 .. CP_TOLERANCE_PARTS - 1));
  requires apart_expected:
    apart_from_expected(parts, CP_TOLERANCE_PARTS * row->value_dim, expected, *row) &&
    apart_from_expected(lost, CP_TOLERANCE_PARTS, expected, *row);
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row) &&
    apart_from_row(parts, CP_TOLERANCE_PARTS * row->value_dim, *row);
  requires ok: arithmetic_ok(*arithmetic) && counts_ok(*counts);
  requires shifts: shifts_ok(*row);
  assigns *(SCRATCH_OF(row)), *(PARTS_OF(row, parts)), lost[0 .. CP_TOLERANCE_PARTS - 1];
*/
double cp_tolerance_parts(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                          const struct cp_tolerance_row *row, const double *expected, double *parts,
                          double *lost);

/* NUM-13: rms[i] is about the error to be expected in column i if roundings are independent. It is
 * the root of the sum of the squares of their bounds, each divided by 3, the variance of a uniform
 * distribution. It is never above B.
 *
 * A WARNING LEVEL ONLY: a right kernel may exceed it, and a wrong one stay below it. It is INFINITY
 * where there is no key or there are too many. It means nothing where the bound is INFINITY, and is
 * too small where all roundings go in one direction (truncation). */
/*@
  requires valid: \valid_read(arithmetic) && \valid_read(counts) && \valid_read(row);
  requires valid_row: row_valid(*row);
  requires valid_rms: \valid(COLUMNS_OF(row, rms)) && \valid_read(COLUMNS_OF(row, expected));
  requires apart: \separated(arithmetic, counts, row, SCRATCH_OF(row), COLUMNS_OF(row, rms));
  requires apart_expected: apart_from_expected(rms, row->value_dim, expected, *row);
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row) &&
    apart_from_row(rms, row->value_dim, *row);
  requires ok: arithmetic_ok(*arithmetic) && counts_ok(*counts);
  assigns *(SCRATCH_OF(row)), *(COLUMNS_OF(row, rms));
*/
void cp_tolerance_rms(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                      const struct cp_tolerance_row *row, const double *expected, double *rms);

#ifdef __cplusplus
}
#endif

#endif
