/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a batch share. */
#ifndef CHUNKPROOF_REF_BATCH_INTERNAL_H
#define CHUNKPROOF_REF_BATCH_INTERNAL_H

#include "chunkproof/batch.h"

/* ---- batch_runs.c: positions ---- */

/* Is the span one of 1 token or more, at positions that can be counted? */
int cp_span_is_valid(struct cp_span span);

/* Have two spans no position in common? */
int cp_spans_are_apart(struct cp_span one, struct cp_span other);

/* The span of a run's tokens. */
struct cp_span cp_span_of(struct cp_run run);

/* RUNS-1: how many runs the spans are cut into, with c tokens to a chunk. */
long long cp_spans_runs(const struct cp_span *spans, int n_spans, int chunk_size);

/* How many runs a prompt has: those of its items and its own. */
int cp_prompt_runs(const struct cp_batch *batch, const struct cp_prompt *prompt);

/* Has none of the runs one of the span's positions? */
int cp_runs_have_room(const struct cp_run *run, int n_runs, struct cp_span span);

/* Has the prompt none of them? */
int cp_prompt_has_room(const struct cp_batch *batch, const struct cp_prompt *prompt,
                       struct cp_span span);

/* ---- batch_room.c: chunks ---- */

/* The item without users that was put or taken before all others; -1: each has users. */
int cp_batch_least_recent(const struct cp_batch *batch);

/* Gives back the chunks of an item that is there. */
void cp_batch_remove(struct cp_batch *batch, int item);

/* BATCH-6: makes n chunks free. Items without users leave until they are. CP_OK; or
 * CP_ERROR_POOL_FULL, and then none has left. */
int cp_batch_make_room(struct cp_batch *batch, int n);

/* Takes a free chunk for run `run` of an owner (struct cp_owner). */
int cp_batch_take(struct cp_batch *batch, int owner, int run);

#endif
