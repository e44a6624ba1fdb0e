/* SPDX-License-Identifier: Apache-2.0 */
/* A query row and head, and one chunk: which keys the row sees of it, and attention over them. */
#ifndef CHUNKPROOF_REF_ROW_CHUNK_INTERNAL_H
#define CHUNKPROOF_REF_ROW_CHUNK_INTERNAL_H

#include "chunkproof/two_phase.h"

#include "attention_internal.h"

/* The slots of a chunk that a query row sees (WINDOW-2): 0 .. kept - 1 and begin .. end - 1, with
 * kept <= begin <= end. Without a window, 0 .. end - 1 alone. Of these, those that the mask
 * leaves (MASK-2). And the position of slot 0; and that less the row's (SCORE-2), which double has
 * exactly. */
struct cp_seen {
    int kept;
    int begin;
    int end;
    int position;
    double distance;
};

#ifdef __FRAMAC__
#include "proofs/logic/row_chunk_seen.h"
#endif

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
int cp_keys_from(long long p, int position, int n_tokens);

/* WINDOW-2: returns which of the n_tokens keys from `position` on a row at position p sees. With
 * windows of 3 keys, the first one kept: of 4 keys from 0 on, a row at position 6 sees the first,
 * and of 4 keys from 4 on, the slots 0 to 2. No sum overflows, whatever the numbers are. */
/*@
  requires valid: \valid_read(attention);
  requires counts: 0 <= position && 0 <= n_tokens;
  assigns \nothing;
  ensures window_2: seen_is(\result, *attention, p, position, n_tokens);
  ensures window_1: window_ok(*attention) ==> \forall integer i; 0 <= i < n_tokens ==>
    (is_seen(\result, i) <==> in_window(*attention, p, position + i));
  ensures prefill_4: no_window(*attention) ==> \result.kept == 0 && \result.begin == 0 &&
    \result.end == keys_seen_in(p, position, n_tokens);
  ensures ordered: seen_ordered(\result, n_tokens);
*/
struct cp_seen cp_seen_of(const struct cp_attention *attention, int p, int position, int n_tokens);

/* Computes partial_attn of a query row and head over the keys that it sees of a chunk (TPP-6), with
 * the K/V head of the query head (TPP-5), of scores that are changed (SCORE-4). Where that is
 * more than one range, their states are merged (WINDOW-3, MASK-3). Leaves the query in q, as
 * doubles. kept_o has room for d numbers. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid(state) &&
    \valid(o + (0 .. attention->value_dim - 1)) && \valid(q + (0 .. attention->head_dim - 1)) &&
    \valid(kept_o + (0 .. attention->value_dim - 1));
  requires chunk: chunk_ok(*attention, *plan, row, head, chunk, seen.end);
  requires seen: seen_ordered(seen, plan->chunk_size);
  requires tpp_6: chunk_readable(*attention, plan->chunk_size, chunk, head, seen.end);
  requires apart: \separated(state, o + (0 .. attention->value_dim - 1),
    q + (0 .. attention->head_dim - 1), kept_o + (0 .. attention->value_dim - 1));
  assigns *state, o[0 .. attention->value_dim - 1], q[0 .. attention->head_dim - 1],
    kept_o[0 .. attention->value_dim - 1];
  ensures ok: state_ok(*state, o, attention->value_dim);
  ensures weight: state_weight(*state) ==
    seen_weight(*attention, plan->chunk_size, row, head, chunk, seen);
  ensures sum: \forall integer i; 0 <= i < attention->value_dim ==> state_sum(*state, o[i]) ==
    seen_value(*attention, plan->chunk_size, row, head, chunk, seen, i);
*/
void cp_attend_chunk(const struct cp_attention *attention, const struct cp_plan *plan, double *q,
                     double *kept_o, struct cp_state *state, double *o, int row, int head,
                     int chunk, struct cp_seen seen);

#endif
