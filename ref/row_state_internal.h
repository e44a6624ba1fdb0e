/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a query row and head, into which its chunks are merged (TPP-2). */
#ifndef CHUNKPROOF_REF_ROW_STATE_INTERNAL_H
#define CHUNKPROOF_REF_ROW_STATE_INTERNAL_H

#include "workspace_internal.h"

/* Makes the state one of no keys (MERGE-2). */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires workspace: workspace_ok(*w, attention->head_dim, attention->value_dim);
  assigns *state, VALUES(attention, w->row_o);
  ensures ok: state_ok(*state, w->row_o, attention->value_dim);
  ensures weight: state_weight(*state) == 0.0;
  ensures sum: \forall integer j; 0 <= j < attention->value_dim ==>
    state_sum(*state, w->row_o[j]) == 0.0;
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
void cp_row_empty(const struct cp_attention *attention, const struct workspace *w,
                  struct cp_state *state);

/* Merges the partial results that chunk first kept for a query row of sequence s and a head
 * (TPP-2). */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phase: phase_ready(*attention, *plan, *w);
  requires row: query_of(*attention, *plan, s, row, head);
  requires first_phase: keeps_shared(w->state, w->o, *attention, *plan);
  requires ok: state_ok(*state, w->row_o, attention->value_dim);
  requires empty: state_weight(*state) == 0.0;
  requires empty_sum: \forall integer j; 0 <= j < attention->value_dim ==>
    state_sum(*state, w->row_o[j]) == 0.0;
  assigns *state, VALUES(attention, w->row_o);
  ensures ok: state_ok(*state, w->row_o, attention->value_dim);
  ensures tpp_2_weight: state_weight(*state) == shared_weight(*attention, *plan, s,
    position_of(*attention, *plan, s, row), row, head, plan->n_shared);
  ensures tpp_2_sum: \forall integer j; 0 <= j < attention->value_dim ==>
    state_sum(*state, w->row_o[j]) == shared_value(*attention, *plan, s,
      position_of(*attention, *plan, s, row), row, head, plan->n_shared, j);
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
void cp_row_merge_shared(const struct cp_attention *attention, const struct cp_plan *plan,
                         const struct workspace *w, int s, int row, int head,
                         struct cp_state *state);

/* Computes the chunks that sequence s has alone and merges them (TPP-2). */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phase: phase_ready(*attention, *plan, *w);
  requires row: query_of(*attention, *plan, s, row, head);
  requires ok: state_ok(*state, w->row_o, attention->value_dim);
  assigns *state, VALUES(attention, w->row_o), NUMBERS(attention, w->q),
    VALUES(attention, w->part_o), VALUES(attention, w->out);
  ensures ok: state_ok(*state, w->row_o, attention->value_dim);
  ensures tpp_2_weight: state_weight(*state) == \old(state_weight(*state)) +
    own_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
      plan->sequence[s].n_chunks);
  ensures tpp_2_sum: \forall integer j; 0 <= j < attention->value_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j])) +
      own_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
        plan->sequence[s].n_chunks, j);
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
void cp_row_merge_own(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w, int s, int row, int head, struct cp_state *state);

/* SCORE-3: merges the sink of a query head, if there is one: a key with this score, and a value of
 * zeros. */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires head: 0 <= head && scores_readable(*attention, head);
  requires workspace: workspace_ok(*w, attention->head_dim, attention->value_dim);
  requires ok: state_ok(*state, w->row_o, attention->value_dim);
  assigns *state, VALUES(attention, w->row_o), VALUES(attention, w->part_o);
  ensures ok: state_ok(*state, w->row_o, attention->value_dim);
  ensures score_3_weight: state_weight(*state) ==
    \old(state_weight(*state)) + sink_weight(*attention, head);
  ensures score_3_sum: \forall integer j; 0 <= j < attention->value_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j]));
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
void cp_row_merge_sink(const struct cp_attention *attention, const struct workspace *w, int head,
                       struct cp_state *state);

#endif
