/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases (spec/two_phase.md; the papers' Algorithms 1 and 2). cp_attend() checks the
 * arguments and runs both; call them alone to look at the partial results between. */
#ifndef CHUNKPROOF_TWO_PHASE_H
#define CHUNKPROOF_TWO_PHASE_H

#include "chunkproof/attention.h"
#include "chunkproof/softmax.h"

#ifdef __FRAMAC__
#include "proofs/logic/two_phase.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The workspace, N partial results and scratch:
 *
 *   struct cp_state state[N];    m and n (softmax.h) ...
 *   double o[N][d_v];            ... and o of each partial result
 *   double q[d];                 scratch
 *   double scratch[3][d_v];
 *
 * CP_BUFFERED: one partial result for each (shared chunk, query row that it covers, head), in that
 * order: for descriptor i of plan->shared, the query rows of its sequences from the first one on,
 * each with its h heads. A row that sees no key of the chunk has the empty state there.
 * CP_MERGE_AT_ONCE: one for each (query row, head), that of all shared chunks together.
 * ref/chunk_first.c has a picture of both.
 *
 * Both phases take arguments that cp_attend() would accept, and check nothing (TPP-1, TPP-2). They
 * are sequential, so that every result has one definite value: the shared chunks are merged in the
 * order of the plan, then the sequence's own from first to last. Both variants do the same
 * arithmetic in the same order and give the same bits (TPP-4). */

/* Fills the partial results. It reads neither the chunks that a sequence has alone nor out and
 * lse. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan);
  requires phases: phases_ok(*attention, *attention->plan);
  requires workspace: workspace_valid(*attention, *attention->plan);
  assigns WORKSPACE_OF(attention);
  ensures tpp_1: first_phase_done(*attention, *attention->plan);
*/
void cp_chunk_first(const struct cp_attention *attention);

/* Reads the partial results, leaves them as they are, and writes out and lse. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan);
  requires phases: phases_ok(*attention, *attention->plan);
  requires workspace: workspace_valid(*attention, *attention->plan);
  requires results: results_ok(*attention, *attention->plan);
  requires apart: lse_apart(*attention, *attention->plan);
  requires tpp_1: first_phase_done(*attention, *attention->plan);
  assigns WORKSPACE_OF(attention), RESULTS_OF(attention, attention->plan);
  ensures tpp_2: out_is_attention(*attention, *attention->plan);
  ensures merge_7: lse_is_attention(*attention, *attention->plan);
  ensures tpp_1: first_phase_done(*attention, *attention->plan);
*/
void cp_sequence_first(const struct cp_attention *attention);

#ifdef __cplusplus
}
#endif

#endif
