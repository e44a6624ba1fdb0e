/* SPDX-License-Identifier: Apache-2.0 */
/* What the harnesses of batches share (spec/batch.md). A batch is judged by where it keeps the
 * token of a position: a place is CHUNK_SIZE * chunk + slot, or -1 where there is none. */
#ifndef CHUNKPROOF_PROOFS_BATCH_H
#define CHUNKPROOF_PROOFS_BATCH_H

#include "chunkproof/batch.h"
#include "model.h"

#define MAX_SPANS 2

/* cp_batch_check() finds nothing, and no item has a name or a time that is still to come. */
int is_valid(const struct cp_batch *batch);

/* Any valid batch with chunks of CHUNK_SIZE tokens. */
void any_valid_batch(struct cp_batch *batch);

/* Any spans, also those out of their range; -1 to MAX_SPANS. */
int any_spans(struct cp_span spans[MAX_SPANS]);

/* Is each in its range; has no position two tokens; where is a token in the spans? */
int spans_in_range(const struct cp_span *spans, int n);
int spans_apart(const struct cp_span *spans, int n);
int spans_have(const struct cp_span *spans, int n, int position);
int spans_runs(const struct cp_span *spans, int n);

/* Of an item; of prompt p, whose token is an item's or its own. */
int item_place(const struct cp_batch *batch, int item, int position);
int prompt_place(const struct cp_batch *batch, int p, int position);
int prompt_has(const struct cp_batch *batch, int p, int item);
int prompt_runs(const struct cp_batch *batch, int p);

/* The free chunks, and those of items without users, but for those of kept[0 .. n). */
int room(const struct cp_batch *batch, const int *kept, int n);

/* Every field the same, of the arrays at one index, which is any. */
int batch_same(const struct cp_batch *a, const struct cp_batch *b);

/* Prompt p has the same tokens at the same places, and the same items, as prompt q of a. */
int prompt_same(const struct cp_batch *a, int q, const struct cp_batch *b, int p);

/* BATCH-6, of any item: one that has left had no users, and none that was taken before it stays;
 * of one that stays nothing changed but its users and when it was taken. */
int others_ok(const struct cp_batch *a, const struct cp_batch *b);

/* Each takes a valid batch, does one operation with any arguments, and checks what it has done. */
void step_batch_put(struct cp_batch *batch);
void step_batch_join(struct cp_batch *batch);
void step_batch_append(struct cp_batch *batch);
void step_batch_leave(struct cp_batch *batch);
void step_batch_drop(struct cp_batch *batch);
void step_batch_plan(struct cp_batch *batch);

#endif
