/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the workspace, and that partial results stay. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_WORKSPACE_H
#define CHUNKPROOF_LOGIC_WORKSPACE_H

#include "ref/workspace_internal.h"

/* For `assigns`: d numbers, or d_v, at x; all partial results; and the scratch of those who write
 * them. */
/* clang-format off */
#define NUMBERS(attention, x) x[0 .. attention->head_dim - 1]
#define VALUES(attention, x) x[0 .. attention->value_dim - 1]
#define PARTIALS(attention, w) \
    w->state[0 .. w->n_partials - 1], w->o[0 .. row_at(w->n_partials, attention->value_dim) - 1]
#define KEPT(attention, w) \
    PARTIALS(attention, w), NUMBERS(attention, w->q), VALUES(attention, w->out)
#define MERGED(attention, w) KEPT(attention, w), VALUES(attention, w->part_o)
/* clang-format on */

/*@
  // The partial results are there, and the scratch; apart from each other.
  predicate workspace_ok{L}(struct workspace w, integer d, integer d_v) =
    0 <= w.n_partials && 0 <= row_at(w.n_partials, d_v) <= 0x7FFFFFFFFFFFFFFF &&
    \valid(w.state + (0 .. w.n_partials - 1)) &&
    \valid(w.o + (0 .. row_at(w.n_partials, d_v) - 1)) && \valid(w.q + (0 .. d - 1)) &&
    \valid(w.part_o + (0 .. d_v - 1)) && \valid(w.row_o + (0 .. d_v - 1)) &&
    \valid(w.out + (0 .. d_v - 1)) &&
    \separated(w.state + (0 .. w.n_partials - 1), w.o + (0 .. row_at(w.n_partials, d_v) - 1),
      w.q + (0 .. d - 1), w.part_o + (0 .. d_v - 1), w.row_o + (0 .. d_v - 1),
      w.out + (0 .. d_v - 1));

  // Its parts are inside the caller's memory.
  predicate workspace_inside{L}(struct workspace w, struct cp_attention a, struct cp_plan p) =
    w.q == part_sums(a, p) + row_at(n_partials(a, p), a.value_dim) &&
    w.part_o == w.q + a.head_dim && w.row_o == w.part_o + a.value_dim &&
    w.out == w.row_o + a.value_dim;

  // What both phases work with: arguments that fit, and a workspace cut for them.
  predicate phase_ready{L}(struct cp_attention a, struct cp_plan p, struct workspace w) =
    phases_ok(a, p) && workspace_ok(w, a.head_dim, a.value_dim) && w.n_partials == n_partials(a, p);

  // The numbers o of the partial results lie one behind the other; those of `at` apart from the
  // others.
  predicate parts_inside(struct workspace w, integer d) =
    \forall integer i; 0 <= i < w.n_partials ==>
      0 <= row_at(i, d) && row_at(i, d) + d <= row_at(w.n_partials, d);
  predicate parts_apart(struct workspace w, integer d, integer at) =
    0 <= row_at(at, d) && row_at(at, d) + d <= row_at(w.n_partials, d) &&
    \forall integer i; 0 <= i < w.n_partials ==> i != at ==>
      0 <= row_at(i, d) && row_at(i, d) + d <= row_at(w.n_partials, d) &&
      (row_at(i, d) + d <= row_at(at, d) || row_at(at, d) + d <= row_at(i, d));

  // The m and n, and the numbers o, of all partial results are what they were; of all but one.
  predicate states_same{L1,L2}(struct workspace w) =
    \forall integer i; 0 <= i < w.n_partials ==>
      \at(w.state[i].m, L1) == \at(w.state[i].m, L2) &&
      \at(w.state[i].n, L1) == \at(w.state[i].n, L2);
  predicate states_same_but{L1,L2}(struct workspace w, integer at) =
    \forall integer i; 0 <= i < w.n_partials ==> i != at ==>
      \at(w.state[i].m, L1) == \at(w.state[i].m, L2) &&
      \at(w.state[i].n, L1) == \at(w.state[i].n, L2);
  predicate sums_same{L1,L2}(struct workspace w, integer d) =
    \forall integer i, j; 0 <= i < w.n_partials ==> 0 <= j < d ==>
      \at(part_of(w.o, d, i)[j], L1) == \at(part_of(w.o, d, i)[j], L2);
  predicate o_same_but{L1,L2}(struct workspace w, integer d, integer at) =
    \forall integer p; 0 <= p < row_at(w.n_partials, d) ==>
      !(row_at(at, d) <= p < row_at(at, d) + d) ==> \at(w.o[p], L1) == \at(w.o[p], L2);
  predicate sums_same_but{L1,L2}(struct workspace w, integer d, integer at) =
    \forall integer i, j; 0 <= i < w.n_partials ==> i != at ==> 0 <= j < d ==>
      \at(part_of(w.o, d, i)[j], L1) == \at(part_of(w.o, d, i)[j], L2);

  // Partial results are what they were: all; all but one.
  predicate parts_same{L1,L2}(struct workspace w, integer d) =
    \forall integer i; 0 <= i < w.n_partials ==>
      part_at{L1}(w.state, w.o, d, i) == part_at{L2}(w.state, w.o, d, i);
  predicate parts_same_but{L1,L2}(struct workspace w, integer d, integer at) =
    \forall integer i; 0 <= i < w.n_partials ==> i != at ==>
      part_at{L1}(w.state, w.o, d, i) == part_at{L2}(w.state, w.o, d, i);

  // Why all but one are; and that one, before it is written.
  predicate others_still{L1,L2}(struct workspace w, integer d, integer at) =
    parts_apart(w, d, at) && states_same_but{L1,L2}(w, at) && o_same_but{L1,L2}(w, d, at) &&
    sums_same_but{L1,L2}(w, d, at);
  predicate part_o_same{L1,L2}(struct workspace w, integer d, integer at) =
    \forall integer j; 0 <= j < d ==>
      \at(w.o[row_at(at, d) + j], L1) == \at(w.o[row_at(at, d) + j], L2);
  predicate part_same{L1,L2}(struct workspace w, integer d, integer at) =
    part_at{L1}(w.state, w.o, d, at) == part_at{L2}(w.state, w.o, d, at);

  // The partial results of the query rows before `row` are there, one of a descriptor
  // (CP_BUFFERED), or descriptor i is merged into them (CP_MERGE_AT_ONCE).
  predicate kept_before_row{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                               integer row) =
    kept_before(w.state, w.o, a, p, row_at(row, a.n_heads));
  predicate merged_before_row{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                                 integer i, integer e, integer row) =
    merged_before(w.state, w.o, a, p, i, e, row_at(row, a.n_heads));

  // CP_BUFFERED: where the partial result of descriptor i for a query row of the sequence at entry
  // e and a head is, and that result.
  logic integer kept_place{L}(struct cp_attention a, struct cp_plan p, integer i, integer e,
                              integer row, integer head) =
    place(row, rows_before(a, p, i, e), a.n_heads) + head;
  logic part kept_part{L}(struct workspace w, struct cp_attention a, struct cp_plan p, integer i,
                          integer e, integer row, integer head) =
    part_at(w.state, w.o, a.value_dim, kept_place(a, p, i, e, row, head));
*/

/* A query row and head can be counted, and so can its elements. The ghost function is a lemma: its
 * contract is the statement, its body the proof. */
/*@ ghost
  /@ requires place: 0 <= row && 0 <= head < n_heads && 1 <= d;
     requires countable: row_at(row_at(row + 1, n_heads), d) <= 0x7FFFFFFFFFFFFFFF;
     assigns \nothing;
     ensures pair: 0 <= row_at(row, n_heads) && row_at(row, n_heads) + n_heads ==
       row_at(row + 1, n_heads) <= 0x7FFFFFFFFFFFFFFF;
     ensures product: row * n_heads == row_at(row, n_heads);
     ensures elements: 0 <= row_at(row_at(row, n_heads) + head, d) &&
       row_at(row_at(row, n_heads) + head, d) + d <= row_at(row_at(row + 1, n_heads), d); @/
  void pair_is_countable(int row, int head, int n_heads, int d) {
    /@ assert next: row_at(row, n_heads) + n_heads == row_at(row + 1, n_heads); @/
    /@ assert positive: 0 <= row_at(row, n_heads); @/
    /@ assert counts: row_at(row + 1, n_heads) <= row_at(row_at(row + 1, n_heads), d); @/
  }
*/

#endif
