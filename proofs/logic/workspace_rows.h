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

  // CP_MERGE_AT_ONCE, as merged_before() says of place `at`, but for that place itself; and for it.
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

  // The partial result of a query row and head is that of the first n descriptors that serve it; of
  // descriptor i.
  predicate its_part_is_shared{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                                  integer s, integer row, integer head, integer n) =
    part_of_shared(part_at(w.state, w.o, a.head_dim, row_at(row, a.n_heads) + head), a, p, s,
      position_of(a, p, s, row), row, head, n);
  predicate its_part_is_chunk{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                                 integer i, integer s, integer row, integer head) =
    part_of_chunk(kept_part(w, a, p, i, row, head), a, p, i, position_of(a, p, s, row), row, head);
*/

/* The rows of partial results of the first descriptors come before those of all. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires sizes: plan_sizes(*plan) && plan_descriptors(*plan, plan->n_shared);
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
       loop assigns n;
       loop variant plan->n_shared - n; @/
    for (int n = 0; n < plan->n_shared; n++) {
      /@ assert descriptor: plan_descriptor(*plan, n); @/
      /@ assert covered: 0 <= covered_rows(attention->query_begin, *plan, n) <= 0x7FFFFFFF; @/
      /@ assert sum: part_row(attention->query_begin, *plan, n + 1) ==
           part_row(attention->query_begin, *plan, n) +
           covered_rows(attention->query_begin, *plan, n); @/
    }
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
     ensures elements: 0 <= query_at(*attention, row, head) &&
       query_at(*attention, row, head) + attention->head_dim <=
         row_at(n_results(*attention, *plan), attention->head_dim);
     ensures below: \forall integer q; 0 <= q < row_at(row, attention->n_heads) + head ==>
       row_at(q, attention->head_dim) + attention->head_dim <= query_at(*attention, row, head); @/
  void row_is_inside(const struct cp_attention *attention, const struct cp_plan *plan, int s,
    int row,
                     int head) {
    /@ assert below: row + 1 <= first_row(attention->query_begin, plan->n_sequences); @/
    /@ assert rows: 0 <= row_at(row + 1, attention->n_heads) <= n_results(*attention, *plan); @/
    /@ assert next: row_at(row, attention->n_heads) + attention->n_heads ==
         row_at(row + 1, attention->n_heads); @/
    /@ assert end: row_at(row_at(row + 1, attention->n_heads), attention->head_dim) <=
         row_at(n_results(*attention, *plan), attention->head_dim); @/
    /@ assert its_end: row_at(row_at(row, attention->n_heads) + head, attention->head_dim) +
         attention->head_dim <=
         row_at(row_at(row + 1, attention->n_heads), attention->head_dim); @/
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
     requires keys: n_keys <= plan->shared[i].n_tokens;
     assigns \nothing;
     ensures query: query_readable(*attention, row, head);
     ensures tpp_6:
       chunk_readable(*attention, plan->chunk_size, plan->shared[i].chunk, head, n_keys); @/
  void may_be_read(const struct cp_attention *attention, const struct cp_plan *plan, int i, int s,
    int row,
                   int head, int n_keys) {
    row_is_inside(attention, plan, s, row, head);
    /@ assert all: chunk_readable(*attention, plan->chunk_size, plan->shared[i].chunk, head,
         plan->shared[i].n_tokens); @/
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

/* CP_MERGE_AT_ONCE: what the place of a query row and head holds before descriptor i is merged into
 * it. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
       0 <= head < attention->n_heads;
     requires at: at == row_at(row, attention->n_heads) + head && at < n_partials(*attention,
       *plan);
     requires before: merged_before(w->state, w->o, *attention, *plan, i, at);
     assigns \nothing;
     ensures was: its_part_is_shared(*w, *attention, *plan, s, row, head, i); @/
  void was_merged(const struct cp_attention *attention, const struct cp_plan *plan,
                  const struct workspace *w, int i, int s, int row, int head, size_t at) {
    row_is_inside(attention, plan, s, row, head);
    /@ assert its: kept_shared(part_at(w->state, w->o, attention->head_dim, at), *attention, *plan,
      s,
         position_of(*attention, *plan, s, row), row, i, at); @/
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
  void merged_one_more(const struct cp_attention *attention, const struct cp_plan *plan,
                       const struct workspace *w, int i, size_t at) {
    /@ assert next: \forall integer y; y < at + 1 <==> y < at || y == at; @/
  }
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires others: out_before(*attention, *plan, at) && lse_before(*attention, *plan, at);
     requires this: \forall integer t, x, k; 0 <= t < plan->n_sequences ==>
       row_of(*attention, t, x) ==>
       row_at(x, attention->n_heads) <= at < row_at(x, attention->n_heads) + attention->n_heads ==>
       row_at(at, attention->head_dim) <= k <
         row_at(at, attention->head_dim) + attention->head_dim ==>
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
     requires its: \forall integer k; query_at(*attention, row, head) <= k <
         query_at(*attention, row, head) + attention->head_dim ==>
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
         row_at(at, attention->head_dim) <= k <
           row_at(at, attention->head_dim) + attention->head_dim ==>
         result_ok(*attention, *plan, t, x, at, k); @/
    /@ assert this_lse: attention->lse != \null ==>
         \forall integer t, x; 0 <= t < plan->n_sequences ==> row_of(*attention, t, x) ==>
         row_at(x, attention->n_heads) <= at < row_at(x, attention->n_heads) +
           attention->n_heads ==>
         lse_ok(*attention, *plan, t, x, at, lse_at(attention->lse, at)); @/
    finished_next(attention, plan, at);
  }
*/

/* Before the first query row that descriptor i serves there is none that it serves. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared;
     requires merged: merged_to(w->state, w->o, *attention, *plan, i);
     assigns \nothing;
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

/* A path has no more tokens than can be counted (PLAN-7), and neither has the position of a chunk
 * on it. */
/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires plan: plan_sizes(*plan) && plan_sequences(*plan);
     requires sequence: 0 <= s < plan->n_sequences;
     assigns \nothing;
     ensures path: plan_path(*plan, s) && plan_length(*plan, s);
     ensures tokens: 0 <= plan->sequence[s].n_tokens <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE; @/
  void path_is_countable(const struct cp_plan *plan, int s) {
    /@ assert path: plan_path(*plan, s) && plan_length(*plan, s); @/
    /@ assert tokens: plan->sequence[s].n_tokens <= key_at(CP_MAX_DEPTH, plan->chunk_size); @/
  }
  /@ requires valid: \valid_read(plan);
     requires plan: plan_sizes(*plan) && plan_path(*plan, s);
     requires chunk: 0 <= k < plan->sequence[s].n_chunks;
     assigns \nothing;
     ensures position: 0 <= k * plan->chunk_size <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE;
     ensures key: k * plan->chunk_size == key_at(k, plan->chunk_size);
     ensures chunk: 0 <= plan->sequence[s].chunk[k] < plan->capacity; @/
  void own_position(const struct cp_plan *plan, int s, int k) {
    /@ assert chunk: plan->sequence[s].chunk[k] == plan_chunk(*plan, s, k); @/
  }
*/

/* The elements of Q before the row after a query row can be counted. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row);
     assigns \nothing;
     ensures countable: rows_countable(*attention, row + 1); @/
  void row_is_countable(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                        int row) {
    row_is_inside(attention, plan, s, row, 0);
  }
*/

/* The keys that a query row sees of the k-th chunk of its own may be read, and TPP-2 adds their
 * sums to those of the chunks before it. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
       0 <= head < attention->n_heads;
     requires chunk: plan->sequence[s].n_shared <= k < plan->sequence[s].n_chunks;
     requires keys: n_keys == keys_seen_in(position_of(*attention, *plan, s, row),
       key_at(k, plan->chunk_size), plan->chunk_size);
     assigns \nothing;
     ensures query: query_readable(*attention, row, head);
     ensures tpp_6:
       chunk_readable(*attention, plan->chunk_size, plan->sequence[s].chunk[k], head, n_keys);
     ensures weight:
       own_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, k + 1) ==
       own_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, k) +
       chunk_weight(*attention, plan->chunk_size, row, head, plan->sequence[s].chunk[k], n_keys);
     ensures value: \forall integer j;
       own_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, k + 1,
         j) ==
       own_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, k, j) +
       chunk_value(*attention, plan->chunk_size, row, head, plan->sequence[s].chunk[k], n_keys,
         j); @/
  void own_may_be_read(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                       int row, int k, int head, int n_keys) {
    /@ assert path: plan_path(*plan, s) && plan_length(*plan, s); @/
    row_is_inside(attention, plan, s, row, head);
    /@ assert chunk: plan->sequence[s].chunk[k] == plan_chunk(*plan, s, k); @/
    /@ assert before: key_at(k, plan->chunk_size) < plan->sequence[s].n_tokens; @/
    /@ assert end: key_at(k, plan->chunk_size) + n_keys <= plan->sequence[s].n_tokens; @/
    /@ assert weight: own_chunk_weight(*attention, *plan, s, k,
         position_of(*attention, *plan, s, row), row, head) ==
         chunk_weight(*attention, plan->chunk_size, row, head, plan->sequence[s].chunk[k],
         n_keys); @/
    /@ assert value: \forall integer j; own_chunk_value(*attention, *plan, s, k,
         position_of(*attention, *plan, s, row), row, head, j) ==
         chunk_value(*attention, plan->chunk_size, row, head, plan->sequence[s].chunk[k], n_keys,
         j); @/
  }
*/

/* What the first phase has left for a query row and head of sequence s: one partial result of all
 * shared chunks (CP_MERGE_AT_ONCE), ... */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
       0 <= head < attention->n_heads;
     requires partials: w->n_partials == n_partials(*attention, *plan);
     requires variant: attention->variant == CP_MERGE_AT_ONCE;
     requires merged: merged_to(w->state, w->o, *attention, *plan, plan->n_shared);
     assigns \nothing;
     ensures inside: row_at(row, attention->n_heads) + attention->n_heads <= w->n_partials;
     ensures part: its_part_is_shared(*w, *attention, *plan, s, row, head, plan->n_shared); @/
  void merged_is_kept(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w, int s, int row, int head) {
    row_is_inside(attention, plan, s, row, head);
    /@ assert its_part: kept_shared(part_at(w->state, w->o, attention->head_dim,
           row_at(row, attention->n_heads) + head), *attention, *plan, s,
         position_of(*attention, *plan, s, row), row, plan->n_shared,
         row_at(row, attention->n_heads) + head); @/
  }
*/

/* ... or one of each descriptor that serves s (CP_BUFFERED). */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
       0 <= head < attention->n_heads;
     requires partials: w->n_partials == n_partials(*attention, *plan);
     requires variant: attention->variant != CP_MERGE_AT_ONCE;
     requires kept: kept_before(w->state, w->o, *attention, *plan, n_partials(*attention, *plan));
     assigns \nothing;
     ensures inside: \forall integer i; 0 <= i < plan->n_shared ==> plan_serves(*plan, i, s) ==>
       0 <= kept_place(*attention, *plan, i, row, head) < w->n_partials;
     ensures part: \forall integer i; 0 <= i < plan->n_shared ==> plan_serves(*plan, i, s) ==>
       its_part_is_chunk(*w, *attention, *plan, i, s, row, head); @/
  void chunks_are_kept(const struct cp_attention *attention, const struct cp_plan *plan,
                       const struct workspace *w, int s, int row, int head) {
    part_rows_rise(attention, plan);
    /@ loop invariant n: 0 <= n <= plan->n_shared;
       loop invariant inside: \forall integer i; 0 <= i < n ==> plan_serves(*plan, i, s) ==>
         0 <= kept_place(*attention, *plan, i, row, head) < w->n_partials;
       loop invariant part: \forall integer i; 0 <= i < n ==> plan_serves(*plan, i, s) ==>
         its_part_is_chunk(*w, *attention, *plan, i, s, row, head);
       loop assigns n;
       loop variant plan->n_shared - n; @/
    for (int n = 0; n < plan->n_shared; n++) {
      /@ assert descriptor: plan_descriptor(*plan, n); @/
      /@ assert begins: plan_serves(*plan, n, s) ==>
           first_row(attention->query_begin, plan->shared[n].begin) <=
             first_row(attention->query_begin, s); @/
      /@ assert ends: plan_serves(*plan, n, s) ==> first_row(attention->query_begin, s + 1) <=
           first_row(attention->query_begin, plan->shared[n].end); @/
      /@ assert rows: plan_serves(*plan, n, s) ==> 0 <= row + rows_before(*attention, *plan, n) &&
           row + rows_before(*attention, *plan, n) + 1 <=
             part_row(attention->query_begin, *plan, plan->n_shared); @/
      /@ assert inside: plan_serves(*plan, n, s) ==>
           0 <= place(row, rows_before(*attention, *plan, n), attention->n_heads) &&
           place(row, rows_before(*attention, *plan, n), attention->n_heads) + attention->n_heads <=
             w->n_partials; @/
      /@ assert its_part: plan_serves(*plan, n, s) ==>
           kept_chunk(kept_part(*w, *attention, *plan, n, row, head), *attention, *plan, n,
             position_of(*attention, *plan, s, row), row, rows_before(*attention, *plan, n),
             kept_place(*attention, *plan, n, row, head)); @/
    }
  }
*/

/* TPP-1, TPP-2: a descriptor adds its chunk to the sums of those whom it serves, and nothing to
 * others. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires descriptor: 0 <= i;
     assigns \nothing;
     ensures yes: plan_serves(*plan, i, s) ==>
       shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i +
         1) ==
       shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i) +
       shared_chunk_weight(*attention, *plan, i, position_of(*attention, *plan, s, row), row, head);
     ensures yes_sum: \forall integer j; plan_serves(*plan, i, s) ==>
       shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
         i + 1, j) ==
       shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i, j) +
       shared_chunk_value(*attention, *plan, i, position_of(*attention, *plan, s, row), row, head,
         j);
     ensures no: !plan_serves(*plan, i, s) ==>
       shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i +
         1) ==
       shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i);
     ensures no_sum: \forall integer j; !plan_serves(*plan, i, s) ==>
       shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
         i + 1, j) ==
       shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i,
         j); @/
  void shared_sums_next(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                        int row, int head, int i) {}
*/

#endif
