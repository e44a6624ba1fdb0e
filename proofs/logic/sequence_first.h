/* SPDX-License-Identifier: Apache-2.0 */
/* Means, and memory that is apart, for ref/sequence_first.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_SEQUENCE_FIRST_H
#define CHUNKPROOF_LOGIC_SEQUENCE_FIRST_H

#include "ref/workspace_internal.h"

/* For `assigns`: all scratch; elements from .. to - 1 of out. */
/* clang-format off */
#define SCRATCH(attention, w) NUMBERS(attention, w->q), NUMBERS(attention, w->part_o), \
    NUMBERS(attention, w->row_o), NUMBERS(attention, w->out)
#define OUT_BYTES(attention, from, to) ((char *)attention->out)[ \
    row_at(from, type_size(attention->out_type)) .. row_at(to, type_size(attention->out_type)) - 1]
/* clang-format on */

/*@
  // lse overlaps no part of the workspace; each of its numbers no scratch.
  predicate results_apart{L}(struct cp_attention a, struct cp_plan p, struct workspace w) =
    a.lse != \null ==> \separated(a.lse + (0 .. n_results(a, p) - 1),
      w.state + (0 .. w.n_partials - 1), w.o + (0 .. row_at(w.n_partials, a.head_dim) - 1),
      w.q + (0 .. a.head_dim - 1), w.part_o + (0 .. a.head_dim - 1),
      w.row_o + (0 .. a.head_dim - 1), w.out + (0 .. a.head_dim - 1));
  predicate lse_apart_from_scratch{L}(struct cp_attention a, struct cp_plan p, struct workspace w) =
    a.lse != \null ==> \forall integer q; 0 <= q < n_results(a, p) ==>
      \separated(a.lse + q, w.q + (0 .. a.head_dim - 1)) &&
      \separated(a.lse + q, w.part_o + (0 .. a.head_dim - 1)) &&
      \separated(a.lse + q, w.row_o + (0 .. a.head_dim - 1)) &&
      \separated(a.lse + q, w.out + (0 .. a.head_dim - 1));

  // What is in lse is what was; in out, but for elements from .. to - 1, and before query row and
  // head n.
  predicate lse_same{L1,L2}(struct cp_attention a, struct cp_plan p) =
    a.lse != \null ==> \forall integer q; 0 <= q < n_results{L2}(a, p) ==>
      \at(a.lse[q], L1) == \at(a.lse[q], L2);
  predicate out_same_but{L1,L2}(struct cp_attention a, integer from, integer to) =
    \forall integer k; !(from <= k < to) ==>
      stored{L2}((char *)a.out, a.out_type, k) == stored{L1}((char *)a.out, a.out_type, k);
  predicate out_same_before{L1,L2}(struct cp_attention a, integer n) =
    \forall integer q, k; 0 <= q < n ==>
      row_at(q, a.head_dim) <= k < row_at(q, a.head_dim) + a.head_dim ==>
      stored{L2}((char *)a.out, a.out_type, k) == stored{L1}((char *)a.out, a.out_type, k);
  predicate results_same_before{L1,L2}(struct cp_attention a, struct cp_plan p, integer n) =
    \forall integer t, x, q, k; 0 <= t < p.n_sequences ==> row_of{L2}(a, t, x) ==> 0 <= q < n ==>
      row_at(x, a.n_heads) <= q < row_at(x, a.n_heads) + a.n_heads ==>
      row_at(q, a.head_dim) <= k < row_at(q, a.head_dim) + a.head_dim ==>
      stored{L1}((char *)a.out, a.out_type, k) ==
        result(a, p, t, position_of{L2}(a, p, t, x), x, q, k) &&
      stored{L2}((char *)a.out, a.out_type, k) == stored{L1}((char *)a.out, a.out_type, k);

  // TPP-2: a weight, and a state, are those of a query row and head; out has its attention
  // (MERGE-6).
  predicate row_weight_is{L}(struct cp_attention a, struct cp_plan p, integer s, integer row,
                             integer head, real weight) =
    weight == row_weight(a, p, s, position_of(a, p, s, row), row, head);
  predicate row_sums_are{L}(struct cp_attention a, struct cp_plan p, integer s, integer row,
                            integer head, struct cp_state state, double *o) =
    \forall integer j; 0 <= j < a.head_dim ==>
      state_sum(state, o[j]) == row_value(a, p, s, position_of(a, p, s, row), row, head, j);
  predicate row_is_attended{L}(struct cp_attention a, struct cp_plan p, integer s, integer row,
                               integer head) =
    \forall integer k; query_at(a, row, head) <= k < query_at(a, row, head) + a.head_dim ==>
      stored((char *)a.out, a.out_type, k) == attended(a.out_type,
        row_value(a, p, s, position_of(a, p, s, row), row, head, k - query_at(a, row, head)),
        row_weight(a, p, s, position_of(a, p, s, row), row, head));
  predicate row_must_be{L}(struct cp_attention a, struct cp_plan p, integer s, integer row,
                           integer head) =
    \forall integer k; query_at(a, row, head) <= k < query_at(a, row, head) + a.head_dim ==>
      result(a, p, s, position_of(a, p, s, row), row, row_at(row, a.n_heads) + head, k) ==
        attended(a.out_type,
          row_value(a, p, s, position_of(a, p, s, row), row, head, k - query_at(a, row, head)),
          row_weight(a, p, s, position_of(a, p, s, row), row, head));
  predicate means_stored_of{L1,L2}(struct cp_attention a, struct workspace w, struct cp_state s) =
    \forall integer j; 0 <= j < a.head_dim ==> rounded(a.out_type, \at(w.out[j], L2)) ==
      attended(a.out_type, state_sum(s, \at(w.row_o[j], L1)), state_weight(s));

  predicate rows_positive{L}(struct cp_attention a, struct cp_plan p) =
    \forall integer t, x; 0 <= t < p.n_sequences ==> row_of(a, t, x) ==> 0 <= row_at(x, a.n_heads);
  predicate results_before{L}(struct cp_attention a, struct cp_plan p, integer n) =
    \forall integer t, x, q, k; 0 <= t < p.n_sequences ==> row_of(a, t, x) ==> q < n ==>
      row_at(x, a.n_heads) <= q < row_at(x, a.n_heads) + a.n_heads ==>
      row_at(q, a.head_dim) <= k < row_at(q, a.head_dim) + a.head_dim ==>
      stored((char *)a.out, a.out_type, k) ==
        result(a, p, t, position_of(a, p, t, x), x, q, k);
*/

/* A mean stays what it is when both sums are brought to another maximum. */
/*@ ghost
  /@ requires mean: is_mean(r, o, n) && !is_zero(n);
     assigns \nothing;
     ensures same: r == mean(scaled(o, m), scaled(n, m)); @/
  void same_mean(double r, double o, double n, double m) {
    /@ assert scaled: is_mean(r, scaled(o, m), scaled(n, m)); @/
    /@ assert some: !is_zero(scaled(n, m)); @/
  }
  /@ requires valid: \valid_read(out + (0 .. d - 1)) && \valid_read(o + (0 .. d - 1)) && 0 <= d;
     requires mean: !is_zero(n) ==> \forall integer j; 0 <= j < d ==> is_mean(out[j], o[j], n);
     assigns \nothing;
     ensures same: !is_zero(n) ==> \forall integer j; 0 <= j < d ==>
       out[j] == mean(scaled(o[j], m), scaled(n, m)); @/
  void same_means(const double *out, const double *o, double n, double m, int d) {
    if (n == 0.0) {
      return;
    }
    /@ loop invariant i: 0 <= i <= d;
       loop invariant same: \forall integer j; 0 <= j < i ==>
         out[j] == mean(scaled(o[j], m), scaled(n, m));
       loop assigns i;
       loop variant d - i; @/
    for (int i = 0; i < d; i++) {
      same_mean(out[i], o[i], n, m);
    }
  }
*/

#endif
