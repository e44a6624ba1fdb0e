/* SPDX-License-Identifier: Apache-2.0 */
/* For ref/chunk_first.c: how far the partial results are there; and, as ghost code, that their
 * places do not overlap, and so that what is there stays when the next one is written. Each ghost
 * function is a lemma: its contract is the statement, its body the proof. Provers alone read this
 * file. */
#ifndef CHUNKPROOF_LOGIC_CHUNK_FIRST_H
#define CHUNKPROOF_LOGIC_CHUNK_FIRST_H

#include "proofs/logic/workspace_rows.h"

/*@
  // CP_BUFFERED: the next row of partial results, number n, is that of descriptor i and a query
  // row; of the first query row of sequence s; the first of descriptor i. Those before it are
  // there.
  predicate kept_to_row{L}(struct workspace w, struct cp_attention a, struct cp_plan p, integer i,
                           integer row, integer n) =
    n == row + rows_before(a, p, i) && kept_before_row(w, a, p, n);
  predicate kept_to_sequence{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                                integer i, integer s, integer n) =
    kept_to_row(w, a, p, i, first_row(a.query_begin, s), n);
  predicate kept_to_descriptor{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                                  integer i, integer n) =
    n == part_row(a.query_begin, p, i) && kept_before_row(w, a, p, n);

  // As kept_before() says of place `at`: it has the partial result of whom it belongs to.
  predicate kept_this{L}(struct workspace w, struct cp_attention a, struct cp_plan p, integer at) =
    \forall integer i, s, row; 0 <= i < p.n_shared ==> plan_serves(p, i, s) ==>
      row_of(a, s, row) ==>
      place(row, rows_before(a, p, i), a.n_heads) <= at <
        place(row, rows_before(a, p, i), a.n_heads) + a.n_heads ==>
      kept_chunk(part_at(w.state, w.o, a.head_dim, at), a, p, i, position_of(a, p, s, row), row,
        rows_before(a, p, i), at);

  // CP_MERGE_AT_ONCE: the first n partial results are states of no keys.
  predicate part_is_empty(part x, integer d) =
    part_ok(x) && part_weight(x) == 0.0 &&
    \forall integer j; 0 <= j < d ==> part_sum(x, j) == 0.0;
  predicate parts_empty{L}(struct workspace w, integer d, integer n) =
    \forall integer i; 0 <= i < n ==> part_is_empty(part_at(w.state, w.o, d, i), d);

  // Descriptor i is merged for the query rows of the sequences before s.
  predicate merged_to_sequence{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                                  integer i, integer s) =
    merged_before_row(w, a, p, i, first_row(a.query_begin, s));

  predicate merged_others{L}(struct workspace w, struct cp_attention a, struct cp_plan p, integer i,
                             integer at) =
    \forall integer t, x, y; 0 <= t < p.n_sequences ==> row_of(a, t, x) ==>
      0 <= y < n_partials(a, p) ==> y != at ==>
      row_at(x, a.n_heads) <= y < row_at(x, a.n_heads) + a.n_heads ==>
      (plan_serves(p, i, t) && y < at ==> kept_shared(part_at(w.state, w.o, a.head_dim, y), a, p, t,
        position_of(a, p, t, x), x, i + 1, y)) &&
      (!(plan_serves(p, i, t) && y < at) ==> kept_shared(part_at(w.state, w.o, a.head_dim, y), a, p,
        t, position_of(a, p, t, x), x, i, y));

  predicate merged_this{L}(struct workspace w, struct cp_attention a, struct cp_plan p, integer i,
                           integer at) =
    \forall integer t, x; 0 <= t < p.n_sequences ==> row_of(a, t, x) ==>
      row_at(x, a.n_heads) <= at < row_at(x, a.n_heads) + a.n_heads ==>
      plan_serves(p, i, t) && kept_shared(part_at(w.state, w.o, a.head_dim, at), a, p, t,
        position_of(a, p, t, x), x, i + 1, at);

*/

/* A query row that descriptor i serves is one of all. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
     requires row: row_of(*attention, s, row);
     assigns \nothing;
     ensures descriptor: plan_descriptor(*plan, i);
     ensures sequence: 0 <= s < plan->n_sequences &&
       0 <= plan->sequence[s].n_tokens <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE;
     ensures row: 0 <= row && row + 1 <= first_row(attention->query_begin, plan->n_sequences);
     ensures next: 0 <= row_at(row, attention->n_heads) &&
       row_at(row, attention->n_heads) + attention->n_heads == row_at(row + 1, attention->n_heads);
     ensures inside: row_at(row + 1, attention->n_heads) <= n_results(*attention, *plan);
     ensures countable: rows_countable(*attention, row + 1); @/
  void served_row(const struct cp_attention *attention, const struct cp_plan *plan, int i, int s,
                  int row) {
    /@ assert descriptor: plan_descriptor(*plan, i); @/
    path_is_countable(plan, s);
    row_is_inside(attention, plan, s, row, 0);
  }
*/

/* A query, and the keys that it sees of a shared chunk, are numbers that the caller has put there
 * (TPP-6). */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
       0 <= head < attention->n_heads;
     requires descriptor: 0 <= i < plan->n_shared;
     requires keys: 0 <= n_keys <= plan->shared[i].n_tokens;
     assigns \nothing;
     ensures chunk: chunk_ok(*attention, *plan, row, head, plan->shared[i].chunk, n_keys);
     ensures tpp_6:
       chunk_readable(*attention, plan->chunk_size, plan->shared[i].chunk, head, n_keys); @/
  void may_be_read(const struct cp_attention *attention, const struct cp_plan *plan, int i, int s,
                   int row, int head, int n_keys) {
    row_is_inside(attention, plan, s, row, head);
    /@ assert descriptor: plan_descriptor(*plan, i); @/
    /@ assert query: query_readable(*attention, row, head); @/
    /@ assert all: chunk_readable(*attention, plan->chunk_size, plan->shared[i].chunk, head,
         plan->shared[i].n_tokens); @/
  }
*/

/* A place among the partial results is that of one query row and descriptor (CP_BUFFERED). */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
     requires row: row_of(*attention, s, row);
     requires head: 0 <= head < attention->n_heads;
     assigns \nothing;
     ensures inside: 0 <= row + rows_before(*attention, *plan, i) &&
       row + rows_before(*attention, *plan, i) + 1 <=
         part_row(attention->query_begin, *plan, plan->n_shared);
     ensures one: \forall integer j, t, x; 0 <= j < plan->n_shared ==> plan_serves(*plan, j, t) ==>
       row_of(*attention, t, x) ==>
       place(x, rows_before(*attention, *plan, j), attention->n_heads) <=
           place(row, rows_before(*attention, *plan, i), attention->n_heads) + head <
         place(x, rows_before(*attention, *plan, j), attention->n_heads) + attention->n_heads ==>
       j == i && t == s && x == row; @/
  void one_place(const struct cp_attention *attention, const struct cp_plan *plan, int i, int s,
                 int row, int head) {
    part_rows_rise(attention, plan);
    /@ assert served: \forall integer j, t; 0 <= j < plan->n_shared ==> plan_serves(*plan, j, t) ==>
         0 <= t < plan->n_sequences; @/
    /@ assert next: \forall integer j; 0 <= j < plan->n_shared ==>
         part_row(attention->query_begin, *plan, j + 1) ==
           part_row(attention->query_begin, *plan, j) +
           covered_rows(attention->query_begin, *plan, j); @/
    /@ assert rows: \forall integer j, t; 0 <= j < plan->n_shared ==> plan_serves(*plan, j, t) ==>
         first_row(attention->query_begin, plan->shared[j].begin) <=
           first_row(attention->query_begin, t) &&
         first_row(attention->query_begin, t + 1) <=
           first_row(attention->query_begin, plan->shared[j].end); @/
    /@ assert covered: \forall integer j, t, x; 0 <= j < plan->n_shared ==>
         plan_serves(*plan, j, t) ==> row_of(*attention, t, x) ==>
         part_row(attention->query_begin, *plan, j) <= x + rows_before(*attention, *plan, j) <
           part_row(attention->query_begin, *plan, j + 1); @/
    /@ assert apart: \forall integer u, v; 0 <= u < v ==>
         row_at(u, attention->n_heads) + attention->n_heads <= row_at(v, attention->n_heads); @/
    /@ assert number: \forall integer j, t, x; 0 <= j < plan->n_shared ==>
         plan_serves(*plan, j, t) ==> row_of(*attention, t, x) ==>
         place(x, rows_before(*attention, *plan, j), attention->n_heads) <=
           place(row, rows_before(*attention, *plan, i), attention->n_heads) + head <
           place(x, rows_before(*attention, *plan, j), attention->n_heads) + attention->n_heads ==>
         x + rows_before(*attention, *plan, j) == row + rows_before(*attention, *plan, i); @/
    /@ assert descriptor: \forall integer j, t, x; 0 <= j < plan->n_shared ==>
         plan_serves(*plan, j, t) ==> row_of(*attention, t, x) ==>
         x + rows_before(*attention, *plan, j) == row + rows_before(*attention, *plan, i) ==>
         j == i && x == row; @/
    /@ assert sequence: \forall integer t; 0 <= t < plan->n_sequences ==>
         row_of(*attention, t, row) ==> t == s; @/
  }
*/

/* CP_BUFFERED: the places of a query row and descriptor are among all. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires variant: attention->variant != CP_MERGE_AT_ONCE;
     requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
     requires row: row_of(*attention, s, row);
     requires place: part_row == row + rows_before(*attention, *plan, i);
     assigns \nothing;
     ensures sequence: 0 <= s < plan->n_sequences;
     ensures place: 0 <= row_at(part_row, attention->n_heads) &&
       row_at(part_row, attention->n_heads) ==
         place(row, rows_before(*attention, *plan, i), attention->n_heads);
     ensures end: row_at(part_row, attention->n_heads) + attention->n_heads ==
       row_at(part_row + 1, attention->n_heads) <= n_partials(*attention, *plan); @/
  void kept_row_is_inside(const struct cp_attention *attention, const struct cp_plan *plan, int i,
                          int s, int row, size_t part_row) {
    served_row(attention, plan, i, s, row);
    one_place(attention, plan, i, s, row, 0);
  }
*/

/* CP_BUFFERED: when the next place has its partial result, one more has. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
     requires row: row_of(*attention, s, row) && 0 <= head < attention->n_heads;
     requires at: at == place(row, rows_before(*attention, *plan, i), attention->n_heads) + head;
     requires now: kept_chunk(part_at(w->state, w->o, attention->head_dim, at), *attention, *plan,
       i, position_of(*attention, *plan, s, row), row, rows_before(*attention, *plan, i), at);
     assigns \nothing;
     ensures this: kept_this(*w, *attention, *plan, at); @/
  void kept_here(const struct cp_attention *attention, const struct cp_plan *plan,
                 const struct workspace *w, int i, int s, int row, int head, size_t at) {
    one_place(attention, plan, i, s, row, head);
  }
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires earlier: kept_before(w->state, w->o, *attention, *plan, at);
     requires this: kept_this(*w, *attention, *plan, at);
     assigns \nothing;
     ensures tpp_1: kept_before(w->state, w->o, *attention, *plan, at + 1); @/
  void kept_next(const struct cp_attention *attention, const struct cp_plan *plan,
                 const struct workspace *w, size_t at) {
    /@ assert next: \forall integer y; y < at + 1 <==> y < at || y == at; @/
  }
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
     requires row: row_of(*attention, s, row) && 0 <= head < attention->n_heads;
     requires at: at == place(row, rows_before(*attention, *plan, i), attention->n_heads) + head;
     requires earlier: kept_before(w->state, w->o, *attention, *plan, at);
     requires now: kept_chunk(part_at(w->state, w->o, attention->head_dim, at), *attention, *plan,
       i, position_of(*attention, *plan, s, row), row, rows_before(*attention, *plan, i), at);
     assigns \nothing;
     ensures tpp_1: kept_before(w->state, w->o, *attention, *plan, at + 1); @/
  void kept_one_more(const struct cp_attention *attention, const struct cp_plan *plan,
                     const struct workspace *w, int i, int s, int row, int head, size_t at) {
    kept_here(attention, plan, w, i, s, row, head, at);
    kept_next(attention, plan, w, at);
  }
*/

/* CP_MERGE_AT_ONCE: what the place of a query row and head holds before descriptor i is merged into
 * it; and that the chunk may be computed. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phase: phase_ready(*attention, *plan, *w);
     requires variant: attention->variant == CP_MERGE_AT_ONCE;
     requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
     requires row: row_of(*attention, s, row) && 0 <= head < attention->n_heads;
     requires keys: 0 <= n_keys <= plan->shared[i].n_tokens;
     requires at: at == row_at(row, attention->n_heads) + head;
     requires before: merged_before(w->state, w->o, *attention, *plan, i, at);
     assigns \nothing;
     ensures at: at < w->n_partials;
     ensures was: its_part_is_shared(*w, *attention, *plan, s, row, head, i);
     ensures chunk: chunk_ok(*attention, *plan, row, head, plan->shared[i].chunk, n_keys);
     ensures tpp_6:
       chunk_readable(*attention, plan->chunk_size, plan->shared[i].chunk, head, n_keys); @/
  void may_be_merged(const struct cp_attention *attention, const struct cp_plan *plan,
                     const struct workspace *w, int i, int s, int row, int head, int n_keys,
                     size_t at) {
    served_row(attention, plan, i, s, row);
    may_be_read(attention, plan, i, s, row, head, n_keys);
    /@ assert its: kept_shared(part_at(w->state, w->o, attention->head_dim, at), *attention, *plan,
         s, position_of(*attention, *plan, s, row), row, i, at); @/
  }
*/

/* CP_MERGE_AT_ONCE: descriptor i is in the place of a query row and head, which is no other's. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
       0 <= head < attention->n_heads;
     requires at: at == row_at(row, attention->n_heads) + head;
     requires now: its_part_is_shared(*w, *attention, *plan, s, row, head, i + 1);
     assigns \nothing;
     ensures this: merged_this(*w, *attention, *plan, i, at); @/
  void merged_here(const struct cp_attention *attention, const struct cp_plan *plan,
                   const struct workspace *w, int i, int s, int row, int head, size_t at) {
    one_row(attention, plan, s, row, head);
    /@ assert kept: kept_shared(part_at(w->state, w->o, attention->head_dim, at), *attention,
         *plan, s, position_of(*attention, *plan, s, row), row, i + 1, at); @/
  }
*/

/* The places before the next one are those before this one, and this one. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires others: merged_others(*w, *attention, *plan, i, at);
     requires this: merged_this(*w, *attention, *plan, i, at);
     assigns \nothing;
     ensures merged: merged_before(w->state, w->o, *attention, *plan, i, at + 1); @/
  void merged_next(const struct cp_attention *attention, const struct cp_plan *plan,
                   const struct workspace *w, int i, size_t at) {
    /@ assert next: \forall integer y; y < at + 1 <==> y < at || y == at; @/
  }
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
     requires row: query_of(*attention, *plan, s, row, head);
     requires at: at == row_at(row, attention->n_heads) + head;
     requires others: merged_others(*w, *attention, *plan, i, at);
     requires now: its_part_is_shared(*w, *attention, *plan, s, row, head, i + 1);
     assigns \nothing;
     ensures merged: merged_before(w->state, w->o, *attention, *plan, i, at + 1); @/
  void merged_one_more(const struct cp_attention *attention, const struct cp_plan *plan,
                       const struct workspace *w, int i, int s, int row, int head, size_t at) {
    merged_here(attention, plan, w, i, s, row, head, at);
    merged_next(attention, plan, w, i, at);
  }
*/

/* Before the first query row that descriptor i serves there is none that it serves. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared;
     requires merged: merged_to(w->state, w->o, *attention, *plan, i);
     assigns \nothing;
     ensures descriptor: plan_descriptor(*plan, i);
     ensures merged: merged_before(w->state, w->o, *attention, *plan, i,
       row_at(first_row(attention->query_begin, plan->shared[i].begin), attention->n_heads)); @/
  void none_served(const struct cp_attention *attention, const struct cp_plan *plan,
                   const struct workspace *w, int i) {
    /@ assert descriptor: plan_descriptor(*plan, i); @/
    /@ assert served: \forall integer s, row; plan_serves(*plan, i, s) ==>
         row_of(*attention, s, row) ==>
         row_at(first_row(attention->query_begin, plan->shared[i].begin), attention->n_heads) <=
           row_at(row, attention->n_heads); @/
  }
*/

/* When all query rows of the sequences that descriptor i serves have its chunk, it is merged: the
 * others are not served by it. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared;
     requires merged: merged_before(w->state, w->o, *attention, *plan, i,
       row_at(first_row(attention->query_begin, plan->shared[i].end), attention->n_heads));
     assigns \nothing;
     ensures merged: merged_to(w->state, w->o, *attention, *plan, i + 1); @/
  void served_all(const struct cp_attention *attention, const struct cp_plan *plan,
                  const struct workspace *w, int i) {
    /@ assert descriptor: plan_descriptor(*plan, i); @/
    /@ assert served: \forall integer s, row; plan_serves(*plan, i, s) ==>
         row_of(*attention, s, row) ==>
         row_at(row, attention->n_heads) + attention->n_heads <=
           row_at(first_row(attention->query_begin, plan->shared[i].end), attention->n_heads); @/
    /@ assert others: \forall part x, integer s, pos, row, at; !plan_serves(*plan, i, s) ==>
         kept_shared(x, *attention, *plan, s, pos, row, i, at) ==>
         kept_shared(x, *attention, *plan, s, pos, row, i + 1, at); @/
  }
*/

#endif
