/* SPDX-License-Identifier: Apache-2.0 */
/* Formats, arithmetic classes and counts that make sense, the formulas of NUM-4 to NUM-8, and the
 * memory of a bound. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TOLERANCE_H
#define CHUNKPROOF_LOGIC_TOLERANCE_H

#include "chunkproof/softmax.h"
#include "chunkproof/tolerance.h"

/* For contracts: scratch; one number for each column; CP_TOLERANCE_PARTS for each. */
/* clang-format off */
#define SCRATCH_OF(row) row->scratch + (0 .. 3 * row->n_keys - 1)
#define COLUMNS_OF(row, x) x + (0 .. row->value_dim - 1)
#define PARTS_OF(row, parts) parts + (0 .. CP_TOLERANCE_PARTS * row->value_dim - 1)
#define RESULTS_OF_ROW(row, expected, bound) \
    *(COLUMNS_OF(row, expected)), *(COLUMNS_OF(row, bound))
#define ROW_APART(arithmetic, counts, row, expected, bound) \separated(arithmetic, counts, row, \
    SCRATCH_OF(row), COLUMNS_OF(row, expected), COLUMNS_OF(row, bound))
/* clang-format on */

/*@
  predicate format_ok(struct cp_format f) = 0.0 <= f.unit && 0.0 <= f.tiny;
  predicate format_is(struct cp_format f, real unit, real tiny, real largest) =
    f.unit == unit && f.tiny == tiny && f.largest == largest;
*/

/*@
  predicate score_arithmetic_ok(struct cp_score_arithmetic s) =
    0.0 <= s.term_unit && 0.0 <= s.term_tiny && 0.0 <= s.unit && 0.0 <= s.tiny && 0 <= s.depth &&
    0 <= s.n_additions && 0.0 <= s.scale_unit && 0.0 <= s.scale_tiny;
  // NUM-6: d products and their sum, one after the other, in a format; the scale is rounded, too.
  predicate plain_scores(struct cp_score_arithmetic s, integer d, real unit, real smallest) =
    s.term_unit == unit && s.term_tiny == smallest && s.unit == unit && s.tiny == 0.0 &&
    s.depth == d && s.n_additions == d && s.scale_unit == 3.0 * unit &&
    s.scale_tiny == smallest && s.scaled_before == 0;
*/

/*@
  predicate arithmetic_ok(struct cp_arithmetic a) =
    score_arithmetic_ok(a.score) && 0.0 <= a.u_arg && 0.0 <= a.u_ref && 0.0 <= a.u_move &&
    0.0 <= a.eps && 0.0 <= a.kappa && format_ok(a.weights) && 0.0 <= a.u_n && 0.0 <= a.eta_n &&
    0.0 <= a.u_o && 0.0 <= a.eta_o && 0.0 <= a.u_part && 0.0 <= a.u_div && 0.0 <= a.eta_div &&
    format_ok(a.output) && 0.0 <= a.above && 0.0 <= a.below;
*/

/*@
  // NUM-21: the class in the scale of the maximum, where references were within `width` of it.
  predicate follows(struct cp_arithmetic was, real width, struct cp_arithmetic now) =
    was.eps + product(was.u_arg + was.u_ref + 2.0 * was.u_move, width) <= now.eps &&
    product(e(width), was.kappa) <= now.kappa &&
    product(e(width), was.weights.tiny) <= now.weights.tiny &&
    product(e(width), was.eta_n) <= now.eta_n && product(e(width), was.eta_o) <= now.eta_o;
*/

/*@
  predicate counts_ok(struct cp_counts c) =
    0 <= c.depth_n && 0 <= c.depth_o && 0 <= c.stores && 0 <= c.changes && 0.0 <= c.operations_n &&
    0.0 <= c.operations_o;
*/

/*@
  // x multiplied n times; and what k roundings of unit u and l of unit v make of a number (NUM-5).
  axiomatic Power {
    logic real power(real x, integer n);
    axiom power_0: \forall real x; power(x, 0) == 1.0;
    axiom power_next: \forall real x, integer n; 0 <= n ==> power(x, n + 1) == x * power(x, n);
  }

  // NUM-20: the unit of binary16 or bfloat16, and how many of binary32 it is.
  logic real unit_of_short(integer type) = type == CP_FP16 ? 0x1p-11 : 0x1p-8;
  logic integer as_one(integer type) = type == CP_FP16 ? 8192 : 65536;

  // NUM-6: (1 + u)^k (1 + u'), and the error from it.
  logic real score_sums(struct cp_score_arithmetic s) =
    power(1.0 + s.unit, s.depth) * (1.0 + s.scale_unit);
  logic real score_relative(struct cp_score_arithmetic s) =
    (1.0 + s.term_unit) * score_sums(s) - 1.0;
  logic real score_lost(struct cp_score_arithmetic s, real scale, integer d) =
    (s.scaled_before != 0 ? 1.0 : scale >= 0.0 ? scale : -scale) *
      (d * s.term_tiny + s.n_additions * s.tiny);
  logic real score_error(struct cp_score_arithmetic s, real scale, integer d, real magnitude) =
    score_relative(s) * magnitude + score_lost(s, scale, d) * score_sums(s) + s.scale_tiny;
*/

/*@
  predicate row_valid{L}(struct cp_tolerance_row r) =
    0 <= r.head_dim && 0 <= r.value_dim && \valid_read(r.q + (0 .. r.head_dim - 1)) &&
    \valid_read(r.k + (0 .. row_at(r.n_keys, r.head_dim) - 1)) &&
    \valid_read(r.v + (0 .. row_at(r.n_keys, r.value_dim) - 1)) &&
    \valid(r.scratch + (0 .. 3 * r.n_keys - 1)) &&
    (r.shift != \null ==> \valid_read(r.shift + (0 .. r.n_keys - 1)) &&
      \valid_read(r.shift_error + (0 .. r.n_keys - 1)));
  predicate row_within(struct cp_tolerance_row r) = r.n_keys <= CP_TOLERANCE_MOST &&
    r.head_dim <= CP_TOLERANCE_MOST && r.value_dim <= CP_TOLERANCE_MOST;
  // NUM-14: no error is negative.
  predicate shifts_ok{L}(struct cp_tolerance_row r) = r.shift != \null ==>
    \forall integer j; 0 <= j < r.n_keys ==> 0.0 <= r.shift_error[j];
  // n numbers at p overlap nothing that is read.
  predicate apart_from_row{L}(double *p, integer n, struct cp_tolerance_row r) =
    \separated(p + (0 .. n - 1), r.q + (0 .. r.head_dim - 1)) &&
    \separated(p + (0 .. n - 1), r.k + (0 .. row_at(r.n_keys, r.head_dim) - 1)) &&
    \separated(p + (0 .. n - 1), r.v + (0 .. row_at(r.n_keys, r.value_dim) - 1)) &&
    (r.shift != \null ==> \separated(p + (0 .. n - 1), r.shift + (0 .. r.n_keys - 1)) &&
      \separated(p + (0 .. n - 1), r.shift_error + (0 .. r.n_keys - 1)));
  predicate is_bound(real x) = 0.0 <= x || !finite(x);
  predicate nothing_claimed(real x, real bound) = x == 0.0 && !finite(bound);

  // NUM-10, NUM-11: where the results of a row go; each is a bound; nothing is claimed (NUM-12).
  predicate results_valid_for{L}(struct cp_tolerance_row r, double *expected, double *bound) =
    \valid(expected + (0 .. r.value_dim - 1)) && \valid(bound + (0 .. r.value_dim - 1));
  predicate results_apart_from{L}(struct cp_tolerance_row r, double *expected, double *bound) =
    apart_from_row(r.scratch, 3 * r.n_keys, r) && apart_from_row(expected, r.value_dim, r) &&
    apart_from_row(bound, r.value_dim, r);
  predicate are_bounds{L}(double *bound, integer d) =
    \forall integer i; 0 <= i < d ==> is_bound(bound[i]);
  predicate none_claimed{L}(double *expected, double *bound, integer d) =
    \forall integer i; 0 <= i < d ==> nothing_claimed(expected[i], bound[i]);

  // n numbers at x do not overlap `expected`, nor does scratch.
  predicate apart_from_expected{L}(double *x, integer n, double *expected,
                                   struct cp_tolerance_row r) =
    \separated(expected + (0 .. r.value_dim - 1), x + (0 .. n - 1)) &&
    \separated(expected + (0 .. r.value_dim - 1), r.scratch + (0 .. 3 * r.n_keys - 1));
*/

/*@
  // NUM-9 to NUM-12, in full: each bound is that of the formulas, whose terms stand in
  // tolerance_bounds.h with their axioms. L1: when the row was read; L2: scratch and results are
  // written.
  axiomatic Claims {
    predicate row_claimed{L1,L2}(struct cp_arithmetic a, struct cp_counts c,
                                 struct cp_tolerance_row r, double *expected, double *bound)
      reads \at(r.q[0 .. r.head_dim - 1], L1), \at(r.k[0 .. row_at(r.n_keys, r.head_dim) - 1], L1),
        \at(r.shift[0 .. r.n_keys - 1], L1), \at(r.shift_error[0 .. r.n_keys - 1], L1),
        \at(r.v[0 .. row_at(r.n_keys, r.value_dim) - 1], L2),
        \at(r.scratch[0 .. 3 * r.n_keys - 1], L2), \at(expected[0 .. r.value_dim - 1], L2),
        \at(bound[0 .. r.value_dim - 1], L2);
    predicate lse_claimed{L1,L2}(struct cp_arithmetic a, struct cp_counts c,
                                 struct cp_tolerance_row r, real lse_error, real lse, real bound)
      reads \at(r.q[0 .. r.head_dim - 1], L1), \at(r.k[0 .. row_at(r.n_keys, r.head_dim) - 1], L1),
        \at(r.shift[0 .. r.n_keys - 1], L1), \at(r.shift_error[0 .. r.n_keys - 1], L1),
        \at(r.scratch[0 .. 3 * r.n_keys - 1], L2);
  }
*/

#endif
