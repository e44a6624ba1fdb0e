/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a merging row, their sums, and classes in range (spec/merging.md). Provers alone read
 * this file. */
#ifndef CHUNKPROOF_LOGIC_MERGING_H
#define CHUNKPROOF_LOGIC_MERGING_H

#include "chunkproof/merging.h"
#include "chunkproof/softmax.h"
#include "chunkproof/tolerance.h"

/* For contracts: the results and the scratch of cp_merging_tolerance() overlap nothing. */
/* clang-format off */
#define MERGING_APART(declared, row, scratch, expected, bound, lse, lse_bound) \
    \separated(declared, row, scratch + (0 .. 5 * row->n_parts - 1), \
        expected + (0 .. row->head_dim - 1), bound + (0 .. row->head_dim - 1), lse, lse_bound)
/* clang-format on */

/* Likewise of cp_merging_of_sums(). */
/* clang-format off */
#define SUMS_APART(given, row, out, sums) \
    \separated(row, given, sums + (0 .. given->n_parts - 1), \
        out + (0 .. row_at(given->n_parts, given->head_dim) - 1)) && \
    sums_apart(sums, given->n_parts, *given) && \
    sums_apart(out, row_at(given->n_parts, given->head_dim), *given) && \
    \separated(row, given->m + (0 .. given->n_parts - 1)) && \
    \separated(row, given->n + (0 .. given->n_parts - 1)) && \
    \separated(row, given->o + (0 .. row_at(given->n_parts, given->head_dim) - 1))
/* clang-format on */

/*@
  // MERGING-12.
  predicate sums_ok(real least, real most) = (least == 0.0 && most == 0.0) ||
    CP_MERGING_LEAST_SUM <= least <= most <= CP_MERGING_MOST_SUM;
  predicate sums_sizes_ok(struct cp_merging_sums r) =
    0 <= r.n_parts <= CP_TOLERANCE_MOST && 0 <= r.head_dim <= CP_TOLERANCE_MOST &&
    (r.base == CP_BASE_E || r.base == CP_BASE_2);
  predicate sums_valid{L}(struct cp_merging_sums r) =
    \valid_read(r.m + (0 .. r.n_parts - 1)) && \valid_read(r.n + (0 .. r.n_parts - 1)) &&
    (0 <= r.n_parts && 0 <= r.head_dim ==>
      \valid_read(r.o + (0 .. row_at(r.n_parts, r.head_dim) - 1)));
  predicate each_sum_ok{L}(double *n, integer n_parts) =
    \forall integer j; 0 <= j < n_parts ==> is_zero(n[j]) ||
      CP_MERGING_LEAST_SUM <= n[j] <= CP_MERGING_MOST_SUM;
  // n numbers at p overlap nothing that is read.
  predicate sums_apart{L}(double *p, integer n, struct cp_merging_sums r) =
    \separated(p + (0 .. n - 1), r.m + (0 .. r.n_parts - 1)) &&
    \separated(p + (0 .. n - 1), r.n + (0 .. r.n_parts - 1)) &&
    \separated(p + (0 .. n - 1), r.o + (0 .. row_at(r.n_parts, r.head_dim) - 1));
  predicate merging_sizes_ok(struct cp_merging_row r) =
    0 <= r.n_parts <= CP_TOLERANCE_MOST && 0 <= r.head_dim <= CP_TOLERANCE_MOST &&
    (r.base == CP_BASE_E || r.base == CP_BASE_2);
  predicate merging_valid{L}(struct cp_merging_row r) =
    \valid_read(r.lse + (0 .. r.n_parts - 1)) &&
    (0 <= r.n_parts && 0 <= r.head_dim ==>
      \valid_read(r.o + (0 .. row_at(r.n_parts, r.head_dim) - 1)));
  // n numbers at p overlap nothing that is read.
  predicate merging_apart{L}(double *p, integer n, struct cp_merging_row r) =
    \separated(p + (0 .. n - 1), r.lse + (0 .. r.n_parts - 1)) &&
    \separated(p + (0 .. n - 1), r.o + (0 .. row_at(r.n_parts, r.head_dim) - 1));

  // How many nats a log-sum-exp of this base counts.
  logic real unit_of(integer base) = base == CP_BASE_2 ? 0x1.62e42fefa39efp-1 : 1.0;

  // MERGING-1, in the scale of exp(0): of the first n parts, the sum of exp(l_i), and of exp(l_i)
  // times column i of the outputs. A part whose l is not finite has no key.
  axiomatic Parts {
    logic real parts_weight{L}(struct cp_merging_row r, integer n) reads r.lse[0 .. n - 1];
    axiom parts_weight_0{L}: \forall struct cp_merging_row r; parts_weight(r, 0) == 0.0;
    axiom parts_weight_next{L}: \forall struct cp_merging_row r, integer n;
      0 <= n ==> finite(r.lse[n]) ==> parts_weight(r, n + 1) ==
        parts_weight(r, n) + e(product(unit_of(r.base), r.lse[n]));
    axiom parts_weight_same{L}: \forall struct cp_merging_row r, integer n;
      0 <= n ==> !finite(r.lse[n]) ==> parts_weight(r, n + 1) == parts_weight(r, n);

    logic real parts_sum{L}(struct cp_merging_row r, integer n, integer i)
      reads r.lse[0 .. n - 1], r.o[0 .. row_at(n, r.head_dim) - 1];
    axiom parts_sum_0{L}: \forall struct cp_merging_row r, integer i; parts_sum(r, 0, i) == 0.0;
    axiom parts_sum_next{L}: \forall struct cp_merging_row r, integer n, i;
      0 <= n ==> finite(r.lse[n]) ==> parts_sum(r, n + 1, i) == parts_sum(r, n, i) +
        scaled(r.o[row_at(n, r.head_dim) + i], product(unit_of(r.base), r.lse[n]));
    axiom parts_sum_same{L}: \forall struct cp_merging_row r, integer n, i;
      0 <= n ==> !finite(r.lse[n]) ==> parts_sum(r, n + 1, i) == parts_sum(r, n, i);
  }
  axiomatic Merged {
    lemma mean_of_parts: \forall real r, o, n, m; is_mean(r, o, n) ==>
      is_mean(r, scaled(o, m), scaled(n, m));
  }
  predicate none_has_keys{L}(struct cp_merging_row r) =
    \forall integer j; 0 <= j < r.n_parts ==> !finite(r.lse[j]);
  // MERGING-1: out is the quotient of the sums.
  predicate merged{L1,L2}(struct cp_merging_row r, double *out) =
    \forall integer i; 0 <= i < r.head_dim ==>
      is_mean(\at(out[i], L2), parts_sum{L1}(r, r.n_parts, i), parts_weight{L1}(r, r.n_parts));
*/

/*@
  predicate declared_ok(struct cp_merging_class c) =
    CP_MERGING_AT_ONCE <= c.way <= CP_MERGING_UNDIVIDED && 0 <= c.tree <= 1 &&
    CP_CONVERTS_NONE <= c.converts <= CP_CONVERTS_EACH && wide_type(c.weights) &&
    wide_type(c.values) && wide_type(c.partials) && wide_type(c.out_type) &&
    wide_type(c.lse_type) && 0 <= c.truncates <= 1 && 0 <= c.flushes <= 1 &&
    0.0 <= c.exp_error <= 0x1p-6 && 0.0 <= c.log_error <= 0x1p-6 &&
    0.0 <= c.div_error <= 0x1p-6 && 0.0 <= c.above <= 64.0 && 0.0 <= c.behind <= 64.0 &&
    (0.0 < c.behind ==> c.way <= CP_MERGING_STATES);
*/

#endif
