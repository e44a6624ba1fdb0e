/* SPDX-License-Identifier: Apache-2.0 */
/* A query row and head, and one chunk: which keys the row sees of it, and attention over them. */
#ifndef CHUNKPROOF_REF_ROW_CHUNK_INTERNAL_H
#define CHUNKPROOF_REF_ROW_CHUNK_INTERNAL_H

#include "chunkproof/two_phase.h"

#include "attention_internal.h"

/* Returns where a query row of sequence s stands (PREFILL-1): where the caller says, else at
 * n - R + t for row t of R. With n = 5 keys and R = 2 rows, row 0 stands at 3 and row 1 at 4. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan);
  requires sequence: 0 <= s < CP_MAX_SEQUENCES;
  requires tokens: 0 <= plan->sequence[s].n_tokens <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE;
  requires valid_ranges: attention->query_begin == \null ||
    \valid_read(attention->query_begin + (s .. s + 1));
  requires row: 0 <= first_row(attention->query_begin, s) <= row <
    first_row(attention->query_begin, s + 1);
  requires valid_position: attention->position == \null || \valid_read(attention->position + row);
  assigns \nothing;
  ensures prefill_1: \result == position_of(*attention, *plan, s, row);
*/
int cp_position_of_row(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                       int row);

/* PREFILL-4: returns how many of the n_tokens keys from `position` on a row at position p sees.
 * Those up to p (PREFILL-2), and none when the row stands before them (PREFILL-3). Of 4 keys from
 * position 8 on, a row at position 9 sees 2. */
/*@
  requires counts: 0 <= position && 0 <= n_tokens;
  assigns \nothing;
  ensures prefill_4: \result == keys_seen_in(p, position, n_tokens);
  ensures prefill_2: \result == 0 || position + \result - 1 <= p;
  ensures prefill_3: p < 0 ==> \result == 0;
  ensures own: 0 <= \result <= n_tokens;
*/
int cp_keys_from(int p, int position, int n_tokens);

/* Computes partial_attn of a query row and head over the first n_keys keys of a chunk (TPP-6), with
 * the K/V head of the query head (TPP-5). Leaves the query in q, as doubles. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid(state) &&
    \valid(o + (0 .. attention->head_dim - 1)) && \valid(q + (0 .. attention->head_dim - 1));
  requires chunk: chunk_ok(*attention, *plan, row, head, chunk, n_keys);
  requires tpp_6: chunk_readable(*attention, plan->chunk_size, chunk, head, n_keys);
  requires apart: \separated(state, o + (0 .. attention->head_dim - 1),
    q + (0 .. attention->head_dim - 1));
  assigns *state, o[0 .. attention->head_dim - 1], q[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, o, attention->head_dim);
  ensures weight: state_weight(*state) ==
    chunk_weight(*attention, plan->chunk_size, row, head, chunk, n_keys);
  ensures sum: \forall integer i; 0 <= i < attention->head_dim ==> state_sum(*state, o[i]) ==
    chunk_value(*attention, plan->chunk_size, row, head, chunk, n_keys, i);
*/
void cp_attend_chunk(const struct cp_attention *attention, const struct cp_plan *plan, double *q,
                     struct cp_state *state, double *o, int row, int head, int chunk, int n_keys);

#endif
