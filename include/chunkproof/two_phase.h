/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases (spec/two_phase.md; the papers' Algorithms 1 and 2). cp_attend() checks the
 * arguments and runs both; call them alone to look at the partial results between. */
#ifndef CHUNKPROOF_TWO_PHASE_H
#define CHUNKPROOF_TWO_PHASE_H

#include "chunkproof/attend.h"

/* Partial results in the workspace. CP_BUFFERED: one for each (shared chunk, query row that it
 * covers, head), in that order. CP_MERGE_AT_ONCE: one for each (query row, head). */
void cp_chunk_first(const struct cp_attention *attention);
void cp_sequence_first(const struct cp_attention *attention);

#endif
