/* SPDX-License-Identifier: Apache-2.0 */
/* For ref/row_state.c: what a state has so far; and, as ghost code, that the chunks of a query row
 * may be read and add to its sums, and what chunk first has left for it. Each ghost function is a
 * lemma: its contract is the statement, its body the proof. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_ROW_STATE_H
#define CHUNKPROOF_LOGIC_ROW_STATE_H

#include "proofs/logic/workspace_rows.h"

/*@
  // TPP-2: the state of a query row and head has the chunks of the first n descriptors that serve
  // it; has, besides what it had before, those of its own before the k-th of its path.
  predicate shared_sums{L}(struct cp_attention a, struct cp_plan p, integer s, integer row,
                           integer head, integer n, struct cp_state state, double *o) =
    state_ok(state, o, a.value_dim) &&
    state_weight(state) == shared_weight(a, p, s, position_of(a, p, s, row), row, head, n) &&
    \forall integer j; 0 <= j < a.value_dim ==> state_sum(state, o[j]) ==
      shared_value(a, p, s, position_of(a, p, s, row), row, head, n, j);
  predicate own_sums{L1,L2}(struct cp_attention a, struct cp_plan p, integer s, integer row,
                            integer head, integer k, struct cp_state before,
                            struct cp_state state, double *o) =
    state_ok{L2}(state, o, a.value_dim) &&
    state_weight(state) == state_weight(before) +
      own_weight(a, p, s, position_of{L2}(a, p, s, row), row, head, k) &&
    \forall integer j; 0 <= j < a.value_dim ==>
      state_sum(state, \at(o[j], L2)) == state_sum(before, \at(o[j], L1)) +
        own_value(a, p, s, position_of{L2}(a, p, s, row), row, head, k, j);

  // CP_BUFFERED: the partial result of descriptor i for a query row and head is what it was.
  predicate kept_part_same{L1,L2}(struct workspace w, struct cp_attention a, struct cp_plan p,
                                  integer i, integer e, integer row, integer head) =
    kept_part{L1}(w, a, p, i, e, row, head) == kept_part{L2}(w, a, p, i, e, row, head);
*/

/* A run holds some keys, and no more than its chunk has slots (RUNS-1). */
/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires plan: runs_lists(*plan, plan->n_sequences) && 0 <= s < plan->n_sequences;
     requires run: 0 <= k < plan->sequence[s].n_chunks;
     assigns \nothing;
     ensures run: run_ok(*plan, plan->sequence[s].run[k]); @/
  void own_run(const struct cp_plan *plan, int s, int k) {
    /@ assert list: runs_list(*plan, s); @/
  }
*/

/* So can the keys that a query row sees, and the elements of Q before the row after it. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires phases: phases_ok(*attention, *plan);
     requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row);
     assigns \nothing;
     ensures row: 0 <= row;
     ensures list: runs_list(*plan, s);
     ensures tokens: 0 <= plan->sequence[s].n_tokens <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE;
     ensures countable: rows_countable(*attention, row + 1); @/
  void row_is_countable(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                        int row) {
    runs_are_countable(plan, s);
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
     requires keys: seen_is(seen, *attention, position_of(*attention, *plan, s, row),
       plan_position(*plan, s, k), plan_tokens(*plan, s, k)) &&
       seen_ordered(seen, plan_tokens(*plan, s, k));
     assigns \nothing;
     ensures chunk: seen_ordered(seen, plan->chunk_size) &&
       chunk_ok(*attention, *plan, row, head, plan->sequence[s].run[k].chunk, seen.end);
     ensures tpp_6:
       chunk_readable(*attention, plan->chunk_size, plan->sequence[s].run[k].chunk, head,
         seen.end);
     ensures weight:
       own_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, k + 1) ==
       own_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, k) +
       seen_weight(*attention, plan->chunk_size, row, head, plan->sequence[s].run[k].chunk,
         seen);
     ensures value: \forall integer j;
       own_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, k + 1,
         j) ==
       own_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, k, j) +
       seen_value(*attention, plan->chunk_size, row, head, plan->sequence[s].run[k].chunk, seen,
         j); @/
  void own_may_be_read(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                       int row, int k, int head, struct cp_seen seen) {
    /@ assert list: runs_list(*plan, s); @/
    row_is_inside(attention, plan, s, row, head);
    own_run(plan, s, k);
    /@ assert chunk: plan->sequence[s].run[k].chunk == plan_chunk(*plan, s, k); @/
    /@ assert keys: 0 <= seen.end <= plan_tokens(*plan, s, k) <= plan->chunk_size; @/
    /@ assert weight: own_chunk_weight(*attention, *plan, s, k,
         position_of(*attention, *plan, s, row), row, head) ==
         seen_weight(*attention, plan->chunk_size, row, head, plan->sequence[s].run[k].chunk,
         seen); @/
    /@ assert value: \forall integer j; own_chunk_value(*attention, *plan, s, k,
         position_of(*attention, *plan, s, row), row, head, j) ==
         seen_value(*attention, plan->chunk_size, row, head, plan->sequence[s].run[k].chunk,
         seen, j); @/
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
    /@ assert its_part: kept_shared(part_at(w->state, w->o, attention->value_dim,
           row_at(row, attention->n_heads) + head), *attention, *plan, s,
         position_of(*attention, *plan, s, row), row, plan->n_shared,
         row_at(row, attention->n_heads) + head); @/
  }
*/

/* ... or one of each descriptor that serves s (CP_BUFFERED). */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
     requires phases: phases_ok(*attention, *plan);
     requires entry: 0 <= i < plan->n_shared && has_entry(*plan, i, e);
     requires row: row_of(*attention, plan->served[e], row) && 0 <= head < attention->n_heads;
     requires partials: w->n_partials == n_partials(*attention, *plan);
     requires variant: attention->variant != CP_MERGE_AT_ONCE;
     requires kept: kept_before(w->state, w->o, *attention, *plan, n_partials(*attention, *plan));
     assigns \nothing;
     ensures inside: 0 <= kept_place(*attention, *plan, i, e, row, head) < w->n_partials;
     ensures part: its_part_is_chunk(*w, *attention, *plan, i, e, plan->served[e], row, head); @/
  void chunk_is_kept(const struct cp_attention *attention, const struct cp_plan *plan,
                     const struct workspace *w, int i, int e, int row, int head) {
    one_place(attention, plan, i, e, row, head);
    /@ assert inside: 0 <= place(row, rows_before(*attention, *plan, i, e), attention->n_heads) &&
         place(row, rows_before(*attention, *plan, i, e), attention->n_heads) +
           attention->n_heads <= w->n_partials; @/
    /@ assert its_part: kept_chunk(kept_part(*w, *attention, *plan, i, e, row, head), *attention,
         *plan, i, position_of(*attention, *plan, plan->served[e], row), row,
         rows_before(*attention, *plan, i, e), kept_place(*attention, *plan, i, e, row, head)); @/
  }
*/

/* TPP-1, TPP-2: a descriptor adds its chunk to the sums of those whom it serves, and nothing to
 * others. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires descriptor: 0 <= i;
     assigns \nothing;
     ensures yes: runs_serves(*plan, i, s) ==>
       shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i +
         1) ==
       shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i) +
       shared_chunk_weight(*attention, *plan, i, position_of(*attention, *plan, s, row), row, head);
     ensures yes_sum: \forall integer j; runs_serves(*plan, i, s) ==>
       shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
         i + 1, j) ==
       shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i, j) +
       shared_chunk_value(*attention, *plan, i, position_of(*attention, *plan, s, row), row, head,
         j);
     ensures no: !runs_serves(*plan, i, s) ==>
       shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i +
         1) ==
       shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i);
     ensures no_sum: \forall integer j; !runs_serves(*plan, i, s) ==>
       shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
         i + 1, j) ==
       shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, i,
         j); @/
  void shared_sums_next(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                        int row, int head, int i) {}
*/

#endif
