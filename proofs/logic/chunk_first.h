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
  // row of the sequence at entry e of its list; the first of entry e; the first of descriptor i.
  // Those before it are there.
  predicate kept_to_row{L}(struct workspace w, struct cp_attention a, struct cp_plan p, integer i,
                           integer e, integer row, integer n) =
    n == row + rows_before(a, p, i, e) && kept_before_row(w, a, p, n);
  predicate kept_to_entry{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                             integer i, integer e, integer n) =
    n == part_row(a.query_begin, p, i) + entry_row(a.query_begin, p, e) -
      entry_row(a.query_begin, p, p.shared[i].begin) && kept_before_row(w, a, p, n);
  predicate kept_to_descriptor{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                                  integer i, integer n) =
    n == part_row(a.query_begin, p, i) && kept_before_row(w, a, p, n);

  // As kept_before() says of place `at`: it has the partial result of whom it belongs to.
  predicate kept_this{L}(struct workspace w, struct cp_attention a, struct cp_plan p, integer at) =
    \forall integer i, e, row; 0 <= i < p.n_shared ==> has_entry(p, i, e) ==>
      row_of(a, p.served[e], row) ==>
      place(row, rows_before(a, p, i, e), a.n_heads) <= at <
        place(row, rows_before(a, p, i, e), a.n_heads) + a.n_heads ==>
      kept_chunk(part_at(w.state, w.o, a.value_dim, at), a, p, i,
        position_of(a, p, p.served[e], row), row, rows_before(a, p, i, e), at);

  // CP_MERGE_AT_ONCE: the first n partial results are states of no keys.
  predicate part_is_empty(part x, integer d) =
    part_ok(x) && part_weight(x) == 0.0 &&
    \forall integer j; 0 <= j < d ==> part_sum(x, j) == 0.0;
  predicate parts_empty{L}(struct workspace w, integer d, integer n) =
    \forall integer i; 0 <= i < n ==> part_is_empty(part_at(w.state, w.o, d, i), d);

  // Descriptor i is merged for the sequences before entry e of its list.
  predicate merged_to_entry{L}(struct workspace w, struct cp_attention a, struct cp_plan p,
                               integer i, integer e) =
    merged_before(w.state, w.o, a, p, i, e, 0);

  predicate merged_others{L}(struct workspace w, struct cp_attention a, struct cp_plan p, integer i,
                             integer e, integer at) =
    \forall integer t, x, y; 0 <= t < p.n_sequences ==> row_of(a, t, x) ==>
      0 <= y < n_partials(a, p) ==> y != at ==>
      row_at(x, a.n_heads) <= y < row_at(x, a.n_heads) + a.n_heads ==>
      (merged_yet(p, i, e, at, t, y) ==>
        kept_shared(part_at(w.state, w.o, a.value_dim, y), a, p, t, position_of(a, p, t, x), x,
          i + 1, y)) &&
      (!merged_yet(p, i, e, at, t, y) ==>
        kept_shared(part_at(w.state, w.o, a.value_dim, y), a, p, t, position_of(a, p, t, x), x, i,
          y));

  predicate merged_this{L}(struct workspace w, struct cp_attention a, struct cp_plan p, integer i,
                           integer e, integer at) =
    \forall integer t, x; 0 <= t < p.n_sequences ==> row_of(a, t, x) ==>
      row_at(x, a.n_heads) <= at < row_at(x, a.n_heads) + a.n_heads ==>
      t == p.served[e] && kept_shared(part_at(w.state, w.o, a.value_dim, at), a, p, t,
        position_of(a, p, t, x), x, i + 1, at);
*/

/* A query row that descriptor i serves is one of all. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared && has_entry(*plan, i, e);
     requires row: s == plan->served[e] && row_of(*attention, s, row);
     assigns \nothing;
     ensures descriptor: runs_gives(*plan, i);
     ensures sequence: 0 <= s < plan->n_sequences;
     ensures list: runs_served(*plan, i) && runs_serves(*plan, i, s);
     ensures first: !served_before(*plan, i, e, s);
     ensures row: 0 <= row && row + 1 <= first_row(attention->query_begin, plan->n_sequences);
     ensures next: 0 <= row_at(row, attention->n_heads) &&
       row_at(row, attention->n_heads) + attention->n_heads == row_at(row + 1, attention->n_heads);
     ensures inside: row_at(row + 1, attention->n_heads) <= n_results(*attention, *plan);
     ensures countable: rows_countable(*attention, row + 1); @/
  void served_row(const struct cp_attention *attention, const struct cp_plan *plan, int i, int e,
                  int s, int row) {
    /@ assert descriptor: runs_served(*plan, i) && runs_gives(*plan, i); @/
    /@ assert differ: \forall integer x; plan->shared[i].begin <= x < e ==> plan->served[x] != s; @/
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
    /@ assert descriptor: runs_gives(*plan, i); @/
    /@ assert query: query_readable(*attention, row, head); @/
    /@ assert all: chunk_readable(*attention, plan->chunk_size, plan->shared[i].chunk, head,
         plan->shared[i].n_tokens); @/
  }
*/

/* CP_BUFFERED: the places of a query row and descriptor are among all. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires variant: attention->variant != CP_MERGE_AT_ONCE;
     requires descriptor: 0 <= i < plan->n_shared && has_entry(*plan, i, e);
     requires row: s == plan->served[e] && row_of(*attention, s, row);
     requires place: part_row == row + rows_before(*attention, *plan, i, e);
     assigns \nothing;
     ensures sequence: 0 <= s < plan->n_sequences;
     ensures place: 0 <= row_at(part_row, attention->n_heads) &&
       row_at(part_row, attention->n_heads) ==
         place(row, rows_before(*attention, *plan, i, e), attention->n_heads);
     ensures end: row_at(part_row, attention->n_heads) + attention->n_heads ==
       row_at(part_row + 1, attention->n_heads) <= n_partials(*attention, *plan); @/
  void kept_row_is_inside(const struct cp_attention *attention, const struct cp_plan *plan, int i,
                          int e, int s, int row, size_t part_row) {
    served_row(attention, plan, i, e, s, row);
    one_place(attention, plan, i, e, row, 0);
  }
*/

/* CP_BUFFERED: when the next place has its partial result, one more has. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared && has_entry(*plan, i, e);
     requires row: row_of(*attention, plan->served[e], row) && 0 <= head < attention->n_heads;
     requires at: at == place(row, rows_before(*attention, *plan, i, e), attention->n_heads) + head;
     requires now: kept_chunk(part_at(w->state, w->o, attention->value_dim, at), *attention, *plan,
       i, position_of(*attention, *plan, plan->served[e], row), row,
       rows_before(*attention, *plan, i, e), at);
     assigns \nothing;
     ensures this: kept_this(*w, *attention, *plan, at); @/
  void kept_here(const struct cp_attention *attention, const struct cp_plan *plan,
                 const struct workspace *w, int i, int e, int row, int head, size_t at) {
    one_place(attention, plan, i, e, row, head);
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
     requires descriptor: 0 <= i < plan->n_shared && has_entry(*plan, i, e);
     requires row: row_of(*attention, plan->served[e], row) && 0 <= head < attention->n_heads;
     requires at: at == place(row, rows_before(*attention, *plan, i, e), attention->n_heads) + head;
     requires earlier: kept_before(w->state, w->o, *attention, *plan, at);
     requires now: kept_chunk(part_at(w->state, w->o, attention->value_dim, at), *attention, *plan,
       i, position_of(*attention, *plan, plan->served[e], row), row,
       rows_before(*attention, *plan, i, e), at);
     assigns \nothing;
     ensures tpp_1: kept_before(w->state, w->o, *attention, *plan, at + 1); @/
  void kept_one_more(const struct cp_attention *attention, const struct cp_plan *plan,
                     const struct workspace *w, int i, int e, int row, int head, size_t at) {
    kept_here(attention, plan, w, i, e, row, head, at);
    kept_next(attention, plan, w, at);
  }
*/

/* CP_MERGE_AT_ONCE: what the place of a query row and head holds before descriptor i is merged into
 * it; and that the chunk may be computed. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phase: phase_ready(*attention, *plan, *w);
     requires variant: attention->variant == CP_MERGE_AT_ONCE;
     requires descriptor: 0 <= i < plan->n_shared && has_entry(*plan, i, e);
     requires row: s == plan->served[e] && row_of(*attention, s, row) &&
       0 <= head < attention->n_heads;
     requires keys: 0 <= n_keys <= plan->shared[i].n_tokens;
     requires at: at == row_at(row, attention->n_heads) + head;
     requires before: merged_before(w->state, w->o, *attention, *plan, i, e, at);
     assigns \nothing;
     ensures at: at < w->n_partials;
     ensures was: its_part_is_shared(*w, *attention, *plan, s, row, head, i);
     ensures chunk: chunk_ok(*attention, *plan, row, head, plan->shared[i].chunk, n_keys);
     ensures tpp_6:
       chunk_readable(*attention, plan->chunk_size, plan->shared[i].chunk, head, n_keys); @/
  void may_be_merged(const struct cp_attention *attention, const struct cp_plan *plan,
                     const struct workspace *w, int i, int e, int s, int row, int head, int n_keys,
                     size_t at) {
    served_row(attention, plan, i, e, s, row);
    may_be_read(attention, plan, i, s, row, head, n_keys);
    /@ assert not_yet: !merged_yet(*plan, i, e, at, s, at); @/
    /@ assert its: kept_shared(part_at(w->state, w->o, attention->value_dim, at), *attention, *plan,
         s, position_of(*attention, *plan, s, row), row, i, at); @/
  }
*/

/* CP_MERGE_AT_ONCE: descriptor i is in the place of a query row and head, which is no other's. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires row: s == plan->served[e] && query_of(*attention, *plan, s, row, head);
     requires at: at == row_at(row, attention->n_heads) + head;
     requires now: its_part_is_shared(*w, *attention, *plan, s, row, head, i + 1);
     assigns \nothing;
     ensures this: merged_this(*w, *attention, *plan, i, e, at); @/
  void merged_here(const struct cp_attention *attention, const struct cp_plan *plan,
                   const struct workspace *w, int i, int e, int s, int row, int head, size_t at) {
    one_row(attention, plan, s, row, head);
    /@ assert kept: kept_shared(part_at(w->state, w->o, attention->value_dim, at), *attention,
         *plan, s, position_of(*attention, *plan, s, row), row, i + 1, at); @/
  }
*/

/* The places before the next one are those before this one, and this one. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires others: merged_others(*w, *attention, *plan, i, e, at);
     requires this: merged_this(*w, *attention, *plan, i, e, at);
     assigns \nothing;
     ensures merged: merged_before(w->state, w->o, *attention, *plan, i, e, at + 1); @/
  void merged_next(const struct cp_attention *attention, const struct cp_plan *plan,
                   const struct workspace *w, int i, int e, size_t at) {
    /@ assert next: \forall integer t, y; y != at ==>
         (merged_yet(*plan, i, e, at + 1, t, y) <==> merged_yet(*plan, i, e, at, t, y)); @/
  }
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires row: s == plan->served[e] && query_of(*attention, *plan, s, row, head);
     requires at: at == row_at(row, attention->n_heads) + head;
     requires others: merged_others(*w, *attention, *plan, i, e, at);
     requires now: its_part_is_shared(*w, *attention, *plan, s, row, head, i + 1);
     assigns \nothing;
     ensures merged: merged_before(w->state, w->o, *attention, *plan, i, e, at + 1); @/
  void merged_one_more(const struct cp_attention *attention, const struct cp_plan *plan,
                       const struct workspace *w, int i, int e, int s, int row, int head,
                       size_t at) {
    merged_here(attention, plan, w, i, e, s, row, head, at);
    merged_next(attention, plan, w, i, e, at);
  }
*/

/* Before the first entry of descriptor i none is served; before the first query row of an entry
 * those of the entries before it are; behind its last one, its sequence is, too. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires descriptor: 0 <= i < plan->n_shared;
     requires merged: merged_to(w->state, w->o, *attention, *plan, i);
     assigns \nothing;
     ensures descriptor: runs_served(*plan, i);
     ensures merged: merged_to_entry(*w, *attention, *plan, i, plan->shared[i].begin); @/
  void none_served(const struct cp_attention *attention, const struct cp_plan *plan,
                   const struct workspace *w, int i) {
    /@ assert descriptor: runs_served(*plan, i); @/
    /@ assert none: \forall integer s, at; 0 <= at ==>
         !merged_yet(*plan, i, plan->shared[i].begin, 0, s, at); @/
  }
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires entry: 0 <= i < plan->n_shared && has_entry(*plan, i, e) && s == plan->served[e];
     requires merged: merged_to_entry(*w, *attention, *plan, i, e);
     assigns \nothing;
     ensures merged: merged_before_row(*w, *attention, *plan, i, e,
       first_row(attention->query_begin, s)); @/
  void entry_begins(const struct cp_attention *attention, const struct cp_plan *plan,
                    const struct workspace *w, int i, int e, int s) {
    /@ assert list: runs_served(*plan, i); @/
    /@ assert rows: \forall integer row; row_of(*attention, s, row) ==>
         row_at(first_row(attention->query_begin, s), attention->n_heads) <=
           row_at(row, attention->n_heads); @/
  }
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires entry: 0 <= i < plan->n_shared && has_entry(*plan, i, e) && s == plan->served[e];
     requires merged: merged_before_row(*w, *attention, *plan, i, e,
       first_row(attention->query_begin, s + 1));
     assigns \nothing;
     ensures merged: merged_to_entry(*w, *attention, *plan, i, e + 1); @/
  void entry_ends(const struct cp_attention *attention, const struct cp_plan *plan,
                  const struct workspace *w, int i, int e, int s) {
    /@ assert list: runs_served(*plan, i); @/
    /@ assert rows: \forall integer row; row_of(*attention, s, row) ==>
         row_at(row, attention->n_heads) + attention->n_heads <=
           row_at(first_row(attention->query_begin, s + 1), attention->n_heads); @/
    /@ assert before: \forall integer t; served_before(*plan, i, e + 1, t) <==>
         served_before(*plan, i, e, t) || t == s; @/
  }
*/

/* When the sequences of all entries have the chunk of descriptor i, it is merged: the others are
 * not served by it. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires descriptor: 0 <= i < plan->n_shared;
     requires merged: merged_to_entry(*w, *attention, *plan, i, plan->shared[i].end);
     assigns \nothing;
     ensures merged: merged_to(w->state, w->o, *attention, *plan, i + 1); @/
  void served_all(const struct cp_attention *attention, const struct cp_plan *plan,
                  const struct workspace *w, int i) {
    /@ assert served: \forall integer s, at; 0 <= at ==>
         (merged_yet(*plan, i, plan->shared[i].end, 0, s, at) <==> runs_serves(*plan, i, s)); @/
    /@ assert others: \forall part x, integer s, pos, row, at; !runs_serves(*plan, i, s) ==>
         kept_shared(x, *attention, *plan, s, pos, row, i, at) ==>
         kept_shared(x, *attention, *plan, s, pos, row, i + 1, at); @/
  }
*/

#endif
