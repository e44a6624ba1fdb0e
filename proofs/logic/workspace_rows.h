/* SPDX-License-Identifier: Apache-2.0 */
/* Ghost code, for the proofs alone: query rows are countable and do not overlap, and neither do
 * their partial results. Each function is a lemma, its contract the statement, its body the proof;
 * a loop is an induction. */
#ifndef CHUNKPROOF_LOGIC_WORKSPACE_ROWS_H
#define CHUNKPROOF_LOGIC_WORKSPACE_ROWS_H

#include "ref/workspace_internal.h"

/*@
  // Place `at`, one of h for each query row, is one of query row `row` of sequence s, and of no
  // other.
  predicate only_row{L}(struct cp_attention a, struct cp_plan p, integer s, integer row,
                        integer at) =
    \forall integer t, x; 0 <= t < p.n_sequences ==> row_of(a, t, x) ==>
      row_at(x, a.n_heads) <= at < row_at(x, a.n_heads) + a.n_heads ==> t == s && x == row;

  // The partial result of a query row and head is that of the first n descriptors that serve it; of
  // descriptor i.
  predicate its_part_is_shared{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                                  integer s, integer row, integer head, integer n) =
    part_of_shared(part_at(w.state, w.o, a.value_dim, row_at(row, a.n_heads) + head), a, p, s,
      position_of(a, p, s, row), row, head, n);
  predicate its_part_is_chunk{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                                 integer i, integer e, integer s, integer row, integer head) =
    part_of_chunk(kept_part(w, a, p, i, e, row, head), a, p, i, position_of(a, p, s, row), row,
      head);

  // The entries of descriptor i are sequences, whose rows come one behind the other, among its own.
  predicate entry_inside{L}(int *query_begin, struct cp_plan p, integer i, integer e) =
    entry_row(query_begin, p, p.shared[i].begin) <= entry_row(query_begin, p, e) &&
    entry_row(query_begin, p, e + 1) <= entry_row(query_begin, p, p.shared[i].end);
  predicate entries_rise{L}(int *query_begin, struct cp_plan p, integer i) =
    (\forall integer e; has_entry(p, i, e) ==> 0 <= p.served[e] < p.n_sequences &&
      entry_row(query_begin, p, e + 1) == entry_row(query_begin, p, e) +
        first_row(query_begin, p.served[e] + 1) - first_row(query_begin, p.served[e]) &&
      entry_inside(query_begin, p, i, e)) &&
    (\forall integer e, f; has_entry(p, i, e) ==> has_entry(p, i, f) ==> e < f ==>
      entry_row(query_begin, p, e + 1) <= entry_row(query_begin, p, f));
*/

/* The rows of partial results of the first descriptors come before those of all. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires lists: runs_sizes(*plan) && runs_all_served(*plan, plan->n_shared);
     requires ranges: ranges_ok(*attention, *plan);
     assigns \nothing;
     ensures rises: \forall integer i, j; 0 <= i <= j <= plan->n_shared ==>
       0 <= part_row(attention->query_begin, *plan, i) <=
         part_row(attention->query_begin, *plan, j);
     ensures next: \forall integer i; 0 <= i < plan->n_shared ==>
       0 <= covered_rows(attention->query_begin, *plan, i) &&
       part_row(attention->query_begin, *plan, i) +
         covered_rows(attention->query_begin, *plan, i) <=
         part_row(attention->query_begin, *plan, plan->n_shared);
     ensures entries: \forall integer i; 0 <= i < plan->n_shared ==>
       entries_rise(attention->query_begin, *plan, i);
     ensures inside: \forall integer i, e; 0 <= i < plan->n_shared ==> has_entry(*plan, i, e) ==>
       entry_inside(attention->query_begin, *plan, i, e);
     ensures countable: part_row(attention->query_begin, *plan, plan->n_shared) <=
       plan->n_shared * 0x7FFFFFFF; @/
  void part_rows_rise(const struct cp_attention *attention, const struct cp_plan *plan) {
    /@ loop invariant n: 0 <= n <= plan->n_shared;
       loop invariant countable:
         0 <= part_row(attention->query_begin, *plan, n) <= n * 0x7FFFFFFF;
       loop invariant rises: \forall integer i, j; 0 <= i <= j <= n ==>
         0 <= part_row(attention->query_begin, *plan, i) <=
           part_row(attention->query_begin, *plan, j);
       loop invariant next: \forall integer i; 0 <= i < n ==>
         0 <= covered_rows(attention->query_begin, *plan, i) &&
         part_row(attention->query_begin, *plan, i) +
           covered_rows(attention->query_begin, *plan, i) <=
           part_row(attention->query_begin, *plan, n);
       loop invariant entries: \forall integer i; 0 <= i < n ==>
         entries_rise(attention->query_begin, *plan, i);
       loop invariant inside: \forall integer i, e; 0 <= i < n ==> has_entry(*plan, i, e) ==>
         entry_inside(attention->query_begin, *plan, i, e);
       loop assigns n;
       loop variant plan->n_shared - n; @/
    for (int n = 0; n < plan->n_shared; n++) {
      /@ assert list: runs_served(*plan, n); @/
      list_is_countable(attention, plan, n);
      /@ assert entries: entries_rise(attention->query_begin, *plan, n); @/
      /@ assert sum: part_row(attention->query_begin, *plan, n + 1) ==
           part_row(attention->query_begin, *plan, n) +
           covered_rows(attention->query_begin, *plan, n); @/
    }
  }
*/

/* The query rows that descriptor i serves, and how its rows of partial results follow. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared;
     assigns \nothing;
     ensures descriptor: runs_served(*plan, i) && runs_gives(*plan, i);
     ensures inside: list_inside(*plan, plan->shared[i].begin, plan->shared[i].end);
     ensures covered: 0 <= covered_rows(attention->query_begin, *plan, i);
     ensures next: part_row(attention->query_begin, *plan, i + 1) ==
       part_row(attention->query_begin, *plan, i) + covered_rows(attention->query_begin, *plan, i);
     ensures rises: 0 <= part_row(attention->query_begin, *plan, i) <=
       part_row(attention->query_begin, *plan, i + 1) <=
       part_row(attention->query_begin, *plan, plan->n_shared) <= plan->n_shared * 0x7FFFFFFF;
     ensures entries: entries_rise(attention->query_begin, *plan, i); @/
  void descriptor_rows(const struct cp_attention *attention, const struct cp_plan *plan, int i) {
    part_rows_rise(attention, plan);
    /@ assert descriptor: runs_served(*plan, i) && runs_gives(*plan, i); @/
  }
*/

/* A query row and head is among all, and so are its elements. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
       0 <= head < attention->n_heads;
     assigns \nothing;
     ensures row: 0 <= row && row + 1 <= first_row(attention->query_begin, plan->n_sequences);
     ensures next: 0 <= row_at(row, attention->n_heads) &&
       row_at(row, attention->n_heads) + attention->n_heads == row_at(row + 1, attention->n_heads);
     ensures inside: row_at(row + 1, attention->n_heads) <= n_results(*attention, *plan);
     ensures countable: rows_countable(*attention, row + 1);
     ensures elements: 0 <= out_at(*attention, row, head) &&
       out_at(*attention, row, head) + attention->value_dim <=
         row_at(n_results(*attention, *plan), attention->value_dim);
     ensures below: \forall integer q; 0 <= q < row_at(row, attention->n_heads) + head ==>
       row_at(q, attention->value_dim) + attention->value_dim <= out_at(*attention, row, head); @/
  void row_is_inside(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                     int row, int head) {
    /@ assert below: row + 1 <= first_row(attention->query_begin, plan->n_sequences); @/
    /@ assert rows: 0 <= row_at(row + 1, attention->n_heads) <= n_results(*attention, *plan); @/
    /@ assert next: row_at(row, attention->n_heads) + attention->n_heads ==
         row_at(row + 1, attention->n_heads); @/
    /@ assert end: row_at(row_at(row + 1, attention->n_heads), attention->value_dim) <=
         row_at(n_results(*attention, *plan), attention->value_dim); @/
    /@ assert end_q: row_at(row_at(row + 1, attention->n_heads), attention->head_dim) <=
         row_at(n_results(*attention, *plan), attention->head_dim); @/
    /@ assert its_end: row_at(row_at(row, attention->n_heads) + head, attention->value_dim) +
         attention->value_dim <=
         row_at(row_at(row + 1, attention->n_heads), attention->value_dim); @/
  }
*/

/* A place among the partial results of all query rows and heads is that of one query row
 * (CP_MERGE_AT_ONCE); and so is a place in out, counted in rows. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row);
     requires head: 0 <= head < attention->n_heads;
     assigns \nothing;
     ensures one: only_row(*attention, *plan, s, row, row_at(row, attention->n_heads) + head); @/
  void one_row(const struct cp_attention *attention, const struct cp_plan *plan, int s, int row,
               int head) {
    /@ assert rows: \forall integer t, x; 0 <= t < plan->n_sequences ==>
         row_of(*attention, t, x) ==> 0 <= x; @/
    /@ assert below: \forall integer x; 0 <= x < row ==>
         row_at(x, attention->n_heads) + attention->n_heads <= row_at(row, attention->n_heads); @/
    /@ assert above: \forall integer x; row < x ==>
         row_at(row, attention->n_heads) + attention->n_heads <= row_at(x, attention->n_heads); @/
    /@ assert row: \forall integer t, x; 0 <= t < plan->n_sequences ==>
         row_of(*attention, t, x) ==>
         row_at(x, attention->n_heads) <= row_at(row, attention->n_heads) + head <
         row_at(x, attention->n_heads) + attention->n_heads ==>
         x == row; @/
    /@ assert sequence: \forall integer t; 0 <= t < plan->n_sequences ==>
         row_of(*attention, t, row) ==> t == s; @/
  }
*/

/* A place among the partial results is that of one query row and entry of a descriptor's list
 * (CP_BUFFERED). */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared && has_entry(*plan, i, e);
     requires row: row_of(*attention, plan->served[e], row);
     requires head: 0 <= head < attention->n_heads;
     assigns \nothing;
     ensures inside: 0 <= row + rows_before(*attention, *plan, i, e) &&
       row + rows_before(*attention, *plan, i, e) + 1 <=
         part_row(attention->query_begin, *plan, plan->n_shared);
     ensures one: \forall integer j, f, x; 0 <= j < plan->n_shared ==> has_entry(*plan, j, f) ==>
       row_of(*attention, plan->served[f], x) ==>
       place(x, rows_before(*attention, *plan, j, f), attention->n_heads) <=
           place(row, rows_before(*attention, *plan, i, e), attention->n_heads) + head <
         place(x, rows_before(*attention, *plan, j, f), attention->n_heads) + attention->n_heads ==>
       j == i && f == e && x == row; @/
  void one_place(const struct cp_attention *attention, const struct cp_plan *plan, int i, int e,
                 int row, int head) {
    part_rows_rise(attention, plan);
    /@ assert next: \forall integer j; 0 <= j < plan->n_shared ==>
         part_row(attention->query_begin, *plan, j + 1) ==
           part_row(attention->query_begin, *plan, j) +
           covered_rows(attention->query_begin, *plan, j); @/
    /@ assert entry: \forall integer j, f, x; 0 <= j < plan->n_shared ==>
         has_entry(*plan, j, f) ==> row_of(*attention, plan->served[f], x) ==>
         entry_row(attention->query_begin, *plan, f) <= x + rows_before(*attention, *plan, j, f) -
           part_row(attention->query_begin, *plan, j) +
           entry_row(attention->query_begin, *plan, plan->shared[j].begin) <
         entry_row(attention->query_begin, *plan, f + 1); @/
    /@ assert covered: \forall integer j, f, x; 0 <= j < plan->n_shared ==>
         has_entry(*plan, j, f) ==> row_of(*attention, plan->served[f], x) ==>
         part_row(attention->query_begin, *plan, j) <= x + rows_before(*attention, *plan, j, f) <
           part_row(attention->query_begin, *plan, j + 1); @/
    /@ assert apart: \forall integer u, v; 0 <= u < v ==>
         row_at(u, attention->n_heads) + attention->n_heads <= row_at(v, attention->n_heads); @/
    /@ assert number: \forall integer j, f, x; 0 <= j < plan->n_shared ==>
         has_entry(*plan, j, f) ==> row_of(*attention, plan->served[f], x) ==>
         place(x, rows_before(*attention, *plan, j, f), attention->n_heads) <=
           place(row, rows_before(*attention, *plan, i, e), attention->n_heads) + head <
           place(x, rows_before(*attention, *plan, j, f), attention->n_heads) +
             attention->n_heads ==>
         x + rows_before(*attention, *plan, j, f) == row + rows_before(*attention, *plan, i, e); @/
    /@ assert descriptor: \forall integer j, f, x; 0 <= j < plan->n_shared ==>
         has_entry(*plan, j, f) ==> row_of(*attention, plan->served[f], x) ==>
         x + rows_before(*attention, *plan, j, f) == row + rows_before(*attention, *plan, i, e) ==>
         j == i; @/
    /@ assert rises: entries_rise(attention->query_begin, *plan, i); @/
    /@ assert sequence: \forall integer f, x; has_entry(*plan, i, f) ==>
         row_of(*attention, plan->served[f], x) ==>
         x + rows_before(*attention, *plan, i, f) == row + rows_before(*attention, *plan, i, e) ==>
         f == e; @/
  }
*/

/* A sequence has no more tokens than can be counted: those of its runs (RUNS-1). */
/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires plan: runs_sizes(*plan) && runs_lists(*plan, plan->n_sequences);
     requires sequence: 0 <= s < plan->n_sequences;
     assigns \nothing;
     ensures list: runs_list(*plan, s);
     ensures tokens: 0 <= plan->sequence[s].n_tokens <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE; @/
  void runs_are_countable(const struct cp_plan *plan, int s) {
    /@ assert list: runs_list(*plan, s); @/
    /@ loop invariant k: 0 <= k <= plan->sequence[s].n_chunks;
       loop invariant tokens: 0 <= run_tokens(*plan, s, k) <= k * CP_MAX_CHUNK_SIZE;
       loop assigns k;
       loop variant plan->sequence[s].n_chunks - k; @/
    for (int k = 0; k < plan->sequence[s].n_chunks; k++) {
      /@ assert run: run_ok(*plan, plan->sequence[s].run[k]); @/
      /@ assert tokens: plan_tokens(*plan, s, k) == plan->sequence[s].run[k].n_tokens; @/
    }
  }
*/

#endif
