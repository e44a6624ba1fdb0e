/* SPDX-License-Identifier: Apache-2.0 */
/* What a query row sees of a chunk (struct cp_seen of ref/row_chunk_internal.h), and the sums over
 * it. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_ROW_CHUNK_SEEN_H
#define CHUNKPROOF_LOGIC_ROW_CHUNK_SEEN_H

#include "proofs/logic/two_phase.h"

/*@
  // WINDOW-2: it is what a row at position p sees of t keys from position f on. The two ranges do
  // not meet.
  predicate seen_is(struct cp_seen s, struct cp_attention a, integer p, integer f, integer t) =
    s.kept == window_kept(a, p, f, t) && s.begin == window_begin(a, p, f, t) &&
    s.end == window_end(a, p, f, t) && s.position == f && s.distance == distance_of(f, p);
  predicate seen_ordered(struct cp_seen s, integer t) = 0 <= s.kept <= s.begin <= s.end <= t &&
    0 <= s.position;

  // Slot i is in one of the ranges.
  predicate is_seen(struct cp_seen s, integer i) = 0 <= i < s.kept || s.begin <= i < s.end;

  // For a query row and head, the sum of e(score) over the keys seen of a chunk, and that of
  // e(score) * v_i (TPP-5, TPP-6, WINDOW-2,
  // MASK-2).
  logic real seen_weight(struct cp_attention a, integer c, integer row, integer head,
                         integer chunk, struct cp_seen s) =
    chunk_weight(a, c, row, head, chunk, s.position, s.kept, s.begin, s.end, s.distance);
  logic real seen_value(struct cp_attention a, integer c, integer row, integer head,
                        integer chunk, struct cp_seen s, integer i) =
    chunk_value(a, c, row, head, chunk, s.position, s.kept, s.begin, s.end, s.distance, i);

  predicate chunk_sums{L}(struct cp_state s, double *o, struct cp_attention a, struct cp_plan p,
                          integer row, integer head, integer chunk, struct cp_seen n) =
    \forall integer j; 0 <= j < a.value_dim ==>
      state_sum(s, o[j]) == seen_value(a, p.chunk_size, row, head, chunk, n, j);
*/

#endif
