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
 * to 1 - left; left is returned, -INFINITY where there is no key or there are too many, and no number where errors
 * are beyond binary64. Where it is not above 0, all parts are INFINITY. Computed in binary64 without cp_tolerance()'s care: right to some digits, and not
 * always above. */
/*@
  requires valid: \valid_read(arithmetic) && \valid_read(counts) && \valid_read(row);
  requires valid_row: row_valid(*row);
  requires valid_parts: \valid(parts + (0 .. CP_TOLERANCE_PARTS * row->head_dim - 1)) &&
    \valid(lost + (0 .. CP_TOLERANCE_PARTS - 1)) &&
    \valid_read(expected + (0 .. row->head_dim - 1));
  requires apart: \separated(arithmetic, counts, row, row->scratch + (0 .. 3 * row->n_keys - 1),
    parts + (0 .. CP_TOLERANCE_PARTS * row->head_dim - 1), lost + (0 .. CP_TOLERANCE_PARTS - 1));
  requires apart_expected: \separated(expected + (0 .. row->head_dim - 1),
    row->scratch + (0 .. 3 * row->n_keys - 1),
    parts + (0 .. CP_TOLERANCE_PARTS * row->head_dim - 1),
    lost + (0 .. CP_TOLERANCE_PARTS - 1));
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row) &&
    apart_from_row(parts, CP_TOLERANCE_PARTS * row->head_dim, *row);
  requires ok: arithmetic_ok(*arithmetic) && counts_ok(*counts);
  assigns row->scratch[0 .. 3 * row->n_keys - 1],
    parts[0 .. CP_TOLERANCE_PARTS * row->head_dim - 1], lost[0 .. CP_TOLERANCE_PARTS - 1];
*/
double cp_tolerance_parts(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                          const struct cp_tolerance_row *row, const double *expected, double *parts,
                          double *lost);

/* NUM-13: rms[i] is about the error to be expected in column i if roundings are independent: the root of the
 * sum of the squares of their bounds, each divided by 3, the variance of a uniform distribution. Never above B.
 * A WARNING LEVEL ONLY: a right kernel may exceed it, and a wrong one stay below. INFINITY where there is no key
 * or there are too many; it says nothing where the bound is INFINITY, and too little where all roundings go in
 * one direction (cut off instead of rounded). */
/*@
  requires valid: \valid_read(arithmetic) && \valid_read(counts) && \valid_read(row);
  requires valid_row: row_valid(*row);
  requires valid_rms: \valid(rms + (0 .. row->head_dim - 1)) &&
    \valid_read(expected + (0 .. row->head_dim - 1));
  requires apart: \separated(arithmetic, counts, row, row->scratch + (0 .. 3 * row->n_keys - 1),
    rms + (0 .. row->head_dim - 1));
  requires apart_expected: \separated(expected + (0 .. row->head_dim - 1),
    row->scratch + (0 .. 3 * row->n_keys - 1), rms + (0 .. row->head_dim - 1));
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row) &&
    apart_from_row(rms, row->head_dim, *row);
  requires ok: arithmetic_ok(*arithmetic) && counts_ok(*counts);
  assigns row->scratch[0 .. 3 * row->n_keys - 1], rms[0 .. row->head_dim - 1];
*/
void cp_tolerance_rms(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                      const struct cp_tolerance_row *row, const double *expected, double *rms);

#ifdef __cplusplus
}
#endif

#endif
