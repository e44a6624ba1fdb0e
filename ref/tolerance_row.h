/* SPDX-License-Identifier: Apache-2.0 */
/* What tolerance.c knows of a row, from the scores of tolerance_scores.c; and what
 * tolerance_columns.c makes of it: the bound of each column, and that of the log-sum-exp. */
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

/* Step 1, NUM-6: scores to scratch[j], and how far they may be off in the class to scratch[n + j];
 * the largest (top) and the smallest (low) of the scores; the largest errors, here and in the
 * class. */
/*@
  requires valid: \valid_read(row) && \valid(b);
  requires valid_row: row_valid(*row) && size_ok(*row) && shifts_ok(*row);
  requires apart: \separated(row, b, row->scratch + (0 .. 3 * row->n_keys - 1));
  requires apart_row: apart_from_row(row->scratch, 3 * row->n_keys, *row);
  requires ok: score_bound_ok(of_here) && score_bound_ok(of_class);
  requires empty: b->largest_z == 0.0 && b->slack == 0.0;
  assigns b->largest_z, b->slack, b->top, b->low, row->scratch[0 .. 2 * row->n_keys - 1];
  ensures not_negative: 0.0 <= b->largest_z && 0.0 <= b->slack && b->low <= b->top;
  ensures range: \forall integer j; 0 <= j < row->n_keys ==> b->low <= row->scratch[j] <= b->top;
  ensures errors: errors_until(row->scratch, row->n_keys, row->n_keys, b->slack);
  ensures num_6: scores_until{Pre,Post}(of_class, *row, row->n_keys);
  ensures num_6_z: none_beyond{Pre}(of_here, *row, row->n_keys, b->largest_z);
  ensures num_6_size: \forall integer j; 0 <= j < row->n_keys ==> 0.0 <= magnitude_of{Pre}(*row, j);
*/
void cp_tolerance_scores(const struct cp_tolerance_row *row, struct cp_score_bound of_here,
                         struct cp_score_bound of_class, struct cp_row_bounds *b);

/* Steps 5 and 6: `expected` and the bound of each column. */
/*@
  requires valid: \valid_read(a) && \valid_read(row) && \valid_read(b);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires valid_results: \valid(expected + (0 .. row->value_dim - 1)) &&
    \valid(bound + (0 .. row->value_dim - 1));
  requires apart: \separated(a, row, b, row->scratch + (0 .. 3 * row->n_keys - 1),
    expected + (0 .. row->value_dim - 1), bound + (0 .. row->value_dim - 1));
  requires apart_row: apart_from_row(expected, row->value_dim, *row) &&
    apart_from_row(bound, row->value_dim, *row);
  requires ok: arithmetic_ok(*a) && bounds_ok(*b);
  requires weighed: weighed(row->scratch, row->n_keys, row->n_keys);
  assigns expected[0 .. row->value_dim - 1], bound[0 .. row->value_dim - 1];
  ensures num_10: 0.0 < b->left ==> \forall integer i; 0 <= i < row->value_dim ==>
    column_ok{Pre}(*a, *b, *row, i, expected[i], bound[i]);
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
