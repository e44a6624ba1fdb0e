/* SPDX-License-Identifier: Apache-2.0 */
/* A query row and head, and one chunk: which keys the row sees of it, and attention over them. */
#ifndef CHUNKPROOF_REF_ROW_CHUNK_INTERNAL_H
#define CHUNKPROOF_REF_ROW_CHUNK_INTERNAL_H

#include "chunkproof/two_phase.h"

#include "attention_internal.h"

/* Returns how many keys of its sequence s the query row sees: n - R + t + 1 for row t of R
 * (PREFILL-1, PREFILL-2). No more than n, because t < R; none when that is below 1 (PREFILL-3).
 * With n = 5 keys and R = 2 rows, row 0 sees 4 keys and row 1 all 5. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan);
  requires sequence: 0 <= s < CP_MAX_SEQUENCES;
  requires tokens: 0 <= plan->sequence[s].n_tokens <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE;
  requires valid_ranges: attention->query_begin == \null ||
    \valid_read(attention->query_begin + (s .. s + 1));
  requires row: 0 <= first_row(attention->query_begin, s) <= row <
    first_row(attention->query_begin, s + 1);
  assigns \nothing;
  ensures prefill_2: \result == keys_seen(row_position(attention->query_begin, s,
    plan->sequence[s].n_tokens, row));
  ensures own: 0 <= \result <= plan->sequence[s].n_tokens;
*/
int cp_keys_of_row(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                   int row);

/* PREFILL-4: returns how many of the n_tokens keys from `position` on a row sees, when the row sees
 * the first `visible` keys of its sequence. Of 4 keys from position 8 on, a row that sees 10 keys
 * sees 2. */
/*@
  requires counts: 0 <= visible && 0 <= position && 0 <= n_tokens;
  assigns \nothing;
  ensures prefill_4: \forall integer p; visible == keys_seen(p) ==>
    \result == keys_seen_in(p, position, n_tokens);
  ensures own: 0 <= \result <= n_tokens && \result <= visible;
*/
int cp_keys_from(int visible, int position, int n_tokens);

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
