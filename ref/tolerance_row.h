/* SPDX-License-Identifier: Apache-2.0 */
/* What tolerance.c knows of a row, and tolerance_columns.c makes of it: the bound of each column,
 * and that of the log-sum-exp. */
#ifndef CHUNKPROOF_REF_TOLERANCE_ROW_H
#define CHUNKPROOF_REF_TOLERANCE_ROW_H

#include "chunkproof/tolerance.h"
#include "tolerance_internal.h"

#define FAINT    0x1p-1021 /* more than exp() of less than -708 (tolerance.c) */
#define SMALLEST 0x1p-1074

/* What is the same for all columns. A weight is exp(s_j - top), and sums are in that scale. */
struct cp_row_bounds {
    double largest_z;           /* Z */
    double lack;                /* of what is computed in binary64: see tolerance.c */
    double top;                 /* the largest computed score */
    double high, low, slack, h; /* of the references */
    double rise;                /* exp(high - top) */
    double stretch;             /* S^C */
    double growth_n, growth_o;  /* G_n - 1, G_o - 1 */
    double weights;             /* W, to nearest */
    double most, least;         /* between which it lies */
    double shared;              /* sum H_j */
    double lost_n;              /* E_n */
    double tiny_o;              /* the second part of E_o */
    double left;
};

#ifdef __FRAMAC__
#include "proofs/logic/tolerance_bounds.h"
#endif

/* Steps 5 and 6: `expected` and the bound of each column. */
/*@
  requires valid: \valid_read(a) && \valid_read(row) && \valid_read(b);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires valid_results: \valid(expected + (0 .. row->value_dim - 1)) &&
    \valid(bound + (0 .. row->value_dim - 1));
  requires apart: \separated(a, row, b, row->scratch + (0 .. 3 * row->n_keys - 1),
    expected + (0 .. row->value_dim - 1), bound + (0 .. row->value_dim - 1));
  requires ok: arithmetic_ok(*a) && bounds_ok(*b);
  requires weighed: weighed(row->scratch, row->n_keys, row->n_keys);
  assigns expected[0 .. row->value_dim - 1], bound[0 .. row->value_dim - 1];
  ensures num_10_bound: 0.0 < b->left ==>
    \forall integer i; 0 <= i < row->value_dim ==> is_bound(bound[i]);
*/
void cp_tolerance_columns(const struct cp_arithmetic *a, const struct cp_tolerance_row *row,
                          const struct cp_row_bounds *b, double *expected, double *bound);

struct cp_lse_bounds {
    double lse, bound;
};

/* NUM-11: the log-sum-exp of a row and its bound. */
/*@
  requires valid: \valid_read(b);
  requires ok: bounds_ok(*b) && 0.0 <= lse_error && (sure ==> 0.0 < b->left);
  assigns \nothing;
  ensures num_11: e(\result.lse) == product(e(b->top), b->weights);
  ensures num_11_bound: is_bound(\result.bound);
  ensures num_11_left: !finite(\result.bound) ||
    product(b->least, e(lse_error + lse_spare(*b, \result.lse) - \result.bound)) <=
    b->least - b->shared - b->lost_n;
  ensures num_11_unsure: !sure ==> !finite(\result.bound);
*/
struct cp_lse_bounds cp_tolerance_lse(const struct cp_row_bounds *b, int sure, double lse_error);

#endif
