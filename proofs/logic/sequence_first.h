/* SPDX-License-Identifier: Apache-2.0 */
/* For ref/sequence_first.c: means, memory that is apart, and how far out and lse have their
 * results. Each ghost function is a lemma: its contract is the statement, its body the proof; a
 * loop is an induction. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_SEQUENCE_FIRST_H
#define CHUNKPROOF_LOGIC_SEQUENCE_FIRST_H

#include "proofs/logic/workspace_rows.h"

/* For `assigns`: all scratch; elements from .. to - 1 of out. */
/* clang-format off */
#define SCRATCH(attention, w) NUMBERS(attention, w->q), VALUES(attention, w->part_o), \
    VALUES(attention, w->row_o), VALUES(attention, w->out)
#define OUT_BYTES(attention, from, to) ((char *)attention->out)[ \
    row_at(from, type_size(attention->out_type)) .. row_at(to, type_size(attention->out_type)) - 1]
/* clang-format on */

/*@
  // lse overlaps no part of the workspace; each of its numbers no scratch.
  predicate results_apart{L}(struct cp_attention a, struct cp_plan p, struct workspace w) =
    a.lse != \null ==> \separated(a.lse + (0 .. n_results(a, p) - 1),
      w.state + (0 .. w.n_partials - 1), w.o + (0 .. row_at(w.n_partials, a.value_dim) - 1),
      w.q + (0 .. a.head_dim - 1), w.part_o + (0 .. a.value_dim - 1),
      w.row_o + (0 .. a.value_dim - 1), w.out + (0 .. a.value_dim - 1));
  predicate lse_apart_from_scratch{L}(struct cp_attention a, struct cp_plan p, struct workspace w) =
    a.lse != \null ==> \forall integer q; 0 <= q < n_results(a, p) ==>
      \separated(a.lse + q, w.q + (0 .. a.head_dim - 1)) &&
      \separated(a.lse + q, w.part_o + (0 .. a.value_dim - 1)) &&
      \separated(a.lse + q, w.row_o + (0 .. a.value_dim - 1)) &&
      \separated(a.lse + q, w.out + (0 .. a.value_dim - 1));

  // The second phase can begin: the first has left its partial results, and out and lse have room.
  predicate results_ready{L}(struct cp_attention a, struct cp_plan p, struct workspace w) =
    phase_ready(a, p, w) && keeps_shared(w.state, w.o, a, p) && results_ok(a, p) &&
    results_apart(a, p, w);
  // lse has room for the number of a query row and head; that place is no partial result.
  predicate lse_has_room{L}(struct cp_attention a, integer row, integer head) =
    a.lse != \null ==> \valid(a.lse + (row_at(row, a.n_heads) + head));
  predicate lse_apart_from_parts{L}(struct cp_attention a, struct workspace w, integer row,
                                    integer head) =
    a.lse != \null ==> \separated(a.lse + (row_at(row, a.n_heads) + head),
      w.state + (0 .. w.n_partials - 1), w.o + (0 .. row_at(w.n_partials, a.value_dim) - 1));

  // What is in lse is what was; in out, but for elements from .. to - 1, and before query row and
  // head n.
  predicate lse_same{L1,L2}(struct cp_attention a, struct cp_plan p) =
    a.lse != \null ==> \forall integer q; 0 <= q < n_results{L2}(a, p) ==>
      \at(a.lse[q], L1) == \at(a.lse[q], L2);
  predicate out_same_but{L1,L2}(char *out, integer type, integer from, integer to) =
    \forall integer k; !(from <= k < to) ==> stored{L2}(out, type, k) == stored{L1}(out, type, k);
  // Elements at .. at + n - 1 of out are n numbers, rounded; the others are what they were.
  predicate out_stored{L1,L2}(char *out, integer type, integer at, integer n, double *number) =
    (\forall integer k; at <= k < at + n ==>
      stored{L2}(out, type, k) == rounded(type, \at(number[k - at], L2))) &&
    out_same_but{L1,L2}(out, type, at, at + n);
  predicate out_same_before{L1,L2}(struct cp_attention a, integer n) =
    \forall integer q, k; 0 <= q < n ==>
      row_at(q, a.value_dim) <= k < row_at(q, a.value_dim) + a.value_dim ==>
      stored{L2}((char *)a.out, a.out_type, k) == stored{L1}((char *)a.out, a.out_type, k);
  predicate results_same_before{L1,L2}(struct cp_attention a, struct cp_plan p, integer n) =
    out_same_before{L1,L2}(a, n) &&
    \forall integer t, x, q, k; 0 <= t < p.n_sequences ==> row_of{L2}(a, t, x) ==> 0 <= q < n ==>
      row_at(x, a.n_heads) <= q < row_at(x, a.n_heads) + a.n_heads ==>
      row_at(q, a.value_dim) <= k < row_at(q, a.value_dim) + a.value_dim ==>
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
    row_weight_is(a, p, s, row, head, state_weight(state)) &&
    \forall integer j; 0 <= j < a.value_dim ==>
      state_sum(state, o[j]) == row_value(a, p, s, position_of(a, p, s, row), row, head, j);
  predicate row_is_attended{L}(struct cp_attention a, struct cp_plan p, integer s, integer row,
                               integer head) =
    \forall integer k; out_at(a, row, head) <= k < out_at(a, row, head) + a.value_dim ==>
      stored((char *)a.out, a.out_type, k) == attended(a.out_type,
        row_value(a, p, s, position_of(a, p, s, row), row, head, k - out_at(a, row, head)),
        row_weight(a, p, s, position_of(a, p, s, row), row, head));
  predicate row_must_be{L}(struct cp_attention a, struct cp_plan p, integer s, integer row,
                           integer head) =
    \forall integer k; out_at(a, row, head) <= k < out_at(a, row, head) + a.value_dim ==>
      result(a, p, s, position_of(a, p, s, row), row, row_at(row, a.n_heads) + head, k) ==
        attended(a.out_type,
          row_value(a, p, s, position_of(a, p, s, row), row, head, k - out_at(a, row, head)),
          row_weight(a, p, s, position_of(a, p, s, row), row, head));
  predicate means_stored_of{L1,L2}(struct cp_attention a, struct workspace w, struct cp_state s) =
    numbers_same{L1,L2}(w.row_o, a.value_dim) &&
    \forall integer j; 0 <= j < a.value_dim ==> rounded(a.out_type, \at(w.out[j], L2)) ==
      attended(a.out_type, state_sum(s, \at(w.row_o[j], L1)), state_weight(s));

  predicate means_are_stored{L1,L2}(struct cp_attention a, struct workspace w, struct cp_state s,
                                    integer row, integer head) =
    \forall integer k; out_at(a, row, head) <= k < out_at(a, row, head) + a.value_dim ==>
      stored{L2}((char *)a.out, a.out_type, k) == attended(a.out_type,
        state_sum(s, \at(w.row_o[k - out_at(a, row, head)], L1)), state_weight(s));

  predicate rows_positive{L}(struct cp_attention a, struct cp_plan p) =
    \forall integer t, x; 0 <= t < p.n_sequences ==> row_of(a, t, x) ==> 0 <= row_at(x, a.n_heads);
  predicate results_before{L}(struct cp_attention a, struct cp_plan p, integer n) =
    \forall integer t, x, q, k; 0 <= t < p.n_sequences ==> row_of(a, t, x) ==> q < n ==>
      row_at(x, a.n_heads) <= q < row_at(x, a.n_heads) + a.n_heads ==>
      row_at(q, a.value_dim) <= k < row_at(q, a.value_dim) + a.value_dim ==>
      stored((char *)a.out, a.out_type, k) ==
        result(a, p, t, position_of(a, p, t, x), x, q, k);

  // The query rows and heads before the n-th of them all have their results: those before a head of
  // a query row, those of the query rows before `row`, those of the sequences before s. The partial
  // results are still there.
  predicate results_to{L}(struct cp_attention a, struct cp_plan p, struct workspace w, integer n) =
    out_before(a, p, n) && lse_before(a, p, n) && keeps_shared(w.state, w.o, a, p);
  predicate results_to_head{L}(struct cp_attention a, struct cp_plan p, struct workspace w,
                               integer row, integer head) =
    results_to(a, p, w, row_at(row, a.n_heads) + head);
  predicate results_to_row{L}(struct cp_attention a, struct cp_plan p, struct workspace w,
                              integer row) = results_to(a, p, w, row_at(row, a.n_heads));
  predicate results_to_sequence{L}(struct cp_attention a, struct cp_plan p, struct workspace w,
                                   integer s) =
    results_to_row(a, p, w, first_row(a.query_begin, s));
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
     ensures keys: is_zero(n) <==> is_zero(scaled(n, m));
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

/* The number of a query row and head. */
/*@ ghost
  /@ requires head: 0 <= row && 0 <= head < n_heads;
     requires countable: row_at(row + 1, n_heads) <= 0x7FFFFFFFFFFFFFFF;
     assigns \nothing;
     ensures pair: \result == row_at(row, n_heads) + head; @/
  size_t pair_at(int row, int head, int n_heads) {
    /@ assert next: row_at(row, n_heads) + n_heads == row_at(row + 1, n_heads); @/
    /@ assert positive: 0 <= row_at(row, n_heads); @/
    /@ assert product: row * n_heads == row_at(row, n_heads); @/
    return (size_t)row * (size_t)n_heads + (size_t)head;
  }
*/

/* The place of a query row and head in out, as that of its bytes: behind those before it, inside
 * all. What was there before stays. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires type: known_type(attention->out_type);
     requires row: query_of(*attention, *plan, s, row, head);
     requires before: out_before(*attention, *plan, row_at(row, attention->n_heads) + head);
     assigns \nothing;
     ensures pair: 0 <= \result == row_at(row, attention->n_heads) + head <
       n_results(*attention, *plan);
     ensures bytes: 0 <= row_at(out_at(*attention, row, head), type_size(attention->out_type)) &&
       row_at(out_at(*attention, row, head) + attention->value_dim,
         type_size(attention->out_type)) <=
       row_at(row_at(n_results(*attention, *plan), attention->value_dim),
         type_size(attention->out_type));
     ensures below: \forall integer q; 0 <= q < row_at(row, attention->n_heads) + head ==>
       row_at(q, attention->value_dim) + attention->value_dim <= out_at(*attention, row, head);
     ensures positive: rows_positive(*attention, *plan);
     ensures was: results_before(*attention, *plan, \result); @/
  size_t result_at(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                   int row, int head) {
    row_is_inside(attention, plan, s, row, head);
    return pair_at(row, head, attention->n_heads);
  }
*/

/* out and lse have room for the result of a query row and head. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires results: results_ok(*attention, *plan);
     requires row: query_of(*attention, *plan, s, row, head);
     assigns \nothing;
     ensures room: results_valid(*attention, out_at(*attention, row, head),
       out_at(*attention, row, head) + attention->value_dim);
     ensures room_lse: lse_has_room(*attention, row, head); @/
  void result_has_room(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                       int row, int head) {
    row_is_inside(attention, plan, s, row, head);
    /@ assert bytes: 0 <= row_at(out_at(*attention, row, head),
         type_size(attention->out_type)) &&
         row_at(out_at(*attention, row, head) + attention->value_dim,
           type_size(attention->out_type)) <=
         row_at(row_at(n_results(*attention, *plan), attention->value_dim),
           type_size(attention->out_type)); @/
    /@ assert begin: row_at(0, type_size(attention->out_type)) == 0; @/
  }
*/

/* At first no query row has a result. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires first_phase: keeps_shared(w->state, w->o, *attention, *plan);
     assigns \nothing;
     ensures none: results_to_sequence(*attention, *plan, *w, 0); @/
  void no_results(const struct cp_attention *attention, const struct cp_plan *plan,
                  const struct workspace *w) {
    /@ assert positive: rows_positive(*attention, *plan); @/
    /@ assert first: first_row(attention->query_begin, 0) == 0; @/
    /@ assert zero: row_at(0, attention->n_heads) == 0; @/
    /@ assert begin: row_at(first_row(attention->query_begin, 0), attention->n_heads) == 0; @/
    /@ assert out: out_before(*attention, *plan, 0); @/
    /@ assert lse: lse_before(*attention, *plan, 0); @/
  }
*/

/* What out must hold for a query row and head is its attention (MERGE-6). */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     assigns \nothing;
     ensures must: row_must_be(*attention, *plan, s, row, head); @/
  void result_is_attended(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                          int row, int head) {
    /@ assert pair: pair_is(row_at(row, attention->n_heads) + head, row, head,
         attention->n_heads); @/
  }
*/

/* When a query row and head has its result, one more has. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires others: out_before(*attention, *plan, at) && lse_before(*attention, *plan, at);
     requires this: \forall integer t, x, k; 0 <= t < plan->n_sequences ==>
       row_of(*attention, t, x) ==>
       row_at(x, attention->n_heads) <= at < row_at(x, attention->n_heads) + attention->n_heads ==>
       row_at(at, attention->value_dim) <= k <
         row_at(at, attention->value_dim) + attention->value_dim ==>
       result_ok(*attention, *plan, t, x, at, k);
     requires this_lse: attention->lse != \null ==>
       \forall integer t, x; 0 <= t < plan->n_sequences ==> row_of(*attention, t, x) ==>
       row_at(x, attention->n_heads) <= at < row_at(x, attention->n_heads) + attention->n_heads ==>
       lse_ok(*attention, *plan, t, x, at, lse_at(attention->lse, at));
     assigns \nothing;
     ensures out: out_before(*attention, *plan, at + 1);
     ensures lse: lse_before(*attention, *plan, at + 1); @/
  void finished_next(const struct cp_attention *attention, const struct cp_plan *plan, size_t at) {
    /@ assert next: \forall integer q; q < at + 1 <==> q < at || q == at; @/
  }
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
       0 <= head < attention->n_heads;
     requires at: at == row_at(row, attention->n_heads) + head;
     requires others: out_before(*attention, *plan, at) && lse_before(*attention, *plan, at);
     requires its: \forall integer k; out_at(*attention, row, head) <= k <
         out_at(*attention, row, head) + attention->value_dim ==>
       result_ok(*attention, *plan, s, row, at, k);
     requires its_lse: attention->lse != \null ==>
       lse_ok(*attention, *plan, s, row, at, lse_at(attention->lse, at));
     assigns \nothing;
     ensures out: out_before(*attention, *plan, at + 1);
     ensures lse: lse_before(*attention, *plan, at + 1); @/
  void finished_one_more(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                         int row, int head, size_t at) {
    one_row(attention, plan, s, row, head);
    /@ assert this: \forall integer t, x, k; 0 <= t < plan->n_sequences ==>
         row_of(*attention, t, x) ==>
         row_at(x, attention->n_heads) <= at < row_at(x, attention->n_heads) +
           attention->n_heads ==>
         row_at(at, attention->value_dim) <= k <
           row_at(at, attention->value_dim) + attention->value_dim ==>
         result_ok(*attention, *plan, t, x, at, k); @/
    /@ assert this_lse: attention->lse != \null ==>
         \forall integer t, x; 0 <= t < plan->n_sequences ==> row_of(*attention, t, x) ==>
         row_at(x, attention->n_heads) <= at < row_at(x, attention->n_heads) +
           attention->n_heads ==>
         lse_ok(*attention, *plan, t, x, at, lse_at(attention->lse, at)); @/
    finished_next(attention, plan, at);
  }
*/

#endif
