/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a batch share. An owner is an item, or -1 - p for prompt p. */
#ifndef CHUNKPROOF_REF_BATCH_INTERNAL_H
#define CHUNKPROOF_REF_BATCH_INTERNAL_H

#include "chunkproof/batch.h"

#ifdef __FRAMAC__
#include "proofs/logic/batch_grow.h"
#endif

/* ---- batch_runs.c: positions ---- */

/* Is the span one of 1 token or more, at positions that can be counted? */
/*@
  assigns \nothing;
  ensures span: \result != 0 <==> span_ok(span);
*/
int cp_span_is_valid(struct cp_span span);

/* Have two spans no position in common? */
/*@
  requires counts: span_counts(one) && span_counts(other);
  assigns \nothing;
  ensures apart: \result != 0 <==> spans_apart(one, other);
*/
int cp_spans_are_apart(struct cp_span one, struct cp_span other);

/* Has span i none of those before it? */
/*@
  requires valid: 0 <= i && \valid_read(spans + (0 .. i));
  requires spans: \forall integer j; 0 <= j <= i ==> span_ok(spans[j]);
  assigns \nothing;
  ensures apart: \result != 0 <==>
    \forall integer j; 0 <= j < i ==> spans_apart(spans[j], spans[i]);
*/
int cp_span_is_apart(const struct cp_span *spans, int i);

/* RUNS-1: how many runs the spans are cut into, with c tokens to a chunk. */
/*@
  requires valid: 0 <= n_spans && \valid_read(spans + (0 .. n_spans - 1));
  requires chunk_size: 1 <= chunk_size <= CP_MAX_CHUNK_SIZE;
  requires spans: spans_ok(spans, n_spans);
  assigns \nothing;
  ensures runs_1: \result == spans_runs(spans, n_spans, chunk_size);
  ensures bound: 0 <= \result;
*/
long long cp_spans_runs(const struct cp_span *spans, int n_spans, int chunk_size);

/* How many runs the owner has, which of a prompt are its own; run k, and the span of its tokens. */
/*@
  requires valid: \valid_read(batch);
  requires owner: owner_fits(owner);
  assigns \nothing;
  ensures runs: \result == owner_runs(*batch, owner);
*/
int cp_batch_n_runs(const struct cp_batch *batch, int owner);
/*@
  requires valid: \valid_read(batch);
  requires owner: owner_fits(owner) && 0 <= k < CP_MAX_DEPTH;
  assigns \nothing;
  ensures chunk: \result.chunk == owner_chunk(*batch, owner, k);
  ensures tokens: \result.n_tokens == owner_tokens(*batch, owner, k);
  ensures position: \result.position == owner_position(*batch, owner, k);
*/
struct cp_run cp_batch_run(const struct cp_batch *batch, int owner, int k);
/*@
  requires valid: \valid_read(batch);
  requires owner: owner_fits(owner) && 0 <= k < CP_MAX_DEPTH;
  assigns \nothing;
  ensures tokens: \result.n_tokens == owner_tokens(*batch, owner, k);
  ensures position: \result.position == owner_position(*batch, owner, k);
*/
struct cp_span cp_batch_span(const struct cp_batch *batch, int owner, int k);

/* How many runs a prompt has: those of its items and its own. */
/*@
  requires valid: \valid_read(batch);
  requires fits: prompt_fits(*batch, prompt);
  assigns \nothing;
  ensures runs: \result ==
    batch->prompt[prompt].n_own + items_runs(*batch, prompt, batch->prompt[prompt].n_items);
*/
int cp_prompt_runs(const struct cp_batch *batch, int prompt);

/* 1 when the prompt has the item, else 0. */
/*@
  requires valid: \valid_read(batch);
  requires prompt: 0 <= prompt < CP_MAX_SEQUENCES;
  requires items: 0 <= batch->prompt[prompt].n_items <= CP_MAX_DEPTH;
  assigns \nothing;
  ensures result: \result == 1 || \result == 0;
  ensures has: \result == 1 <==> prompt_has_item(*batch, prompt, item);
*/
int cp_prompt_has_item(const struct cp_batch *batch, int prompt, int item);

/* The tokens of an owner's runs. */
/*@
  requires valid: \valid_read(batch);
  requires owner: owner_fits(owner) && 0 <= owner_runs(*batch, owner) <= CP_MAX_DEPTH;
  requires runs: runs_in_chunks(*batch, owner, owner_runs(*batch, owner));
  assigns \nothing;
  ensures sum: \result == owner_sum(*batch, owner, owner_runs(*batch, owner));
  ensures bound: 0 <= \result <= owner_runs(*batch, owner) * CP_MAX_CHUNK_SIZE;
*/
int cp_batch_n_tokens(const struct cp_batch *batch, int owner);

/* Has none of the first n_runs runs of the owner one of the span's positions? */
/*@
  requires valid: \valid_read(batch);
  requires owner: owner_fits(owner) && 0 <= n_runs <= CP_MAX_DEPTH;
  requires counts: runs_count(*batch, owner, n_runs) && span_counts(span);
  assigns \nothing;
  ensures room: \result != 0 <==> runs_avoid(*batch, owner, n_runs, span.position, span.n_tokens);
*/
int cp_runs_have_room(const struct cp_batch *batch, int owner, int n_runs, struct cp_span span);

/* Has the prompt none of them, with its first n_items items and its own runs? */
/*@
  requires valid: \valid_read(batch);
  requires fits: prompt_fits(*batch, prompt) && 0 <= n_items <= batch->prompt[prompt].n_items;
  requires counts: prompt_counts(*batch, prompt) && span_counts(span);
  assigns \nothing;
  ensures room: \result != 0 <==>
    prompt_avoids(*batch, prompt, n_items, span.position, span.n_tokens);
*/
int cp_prompt_has_room(const struct cp_batch *batch, int prompt, int n_items, struct cp_span span);

/* Has it none of the item's positions? */
/*@
  requires valid: \valid_read(batch);
  requires fits: prompt_fits(*batch, prompt) && 0 <= n_items <= batch->prompt[prompt].n_items;
  requires counts: prompt_counts(*batch, prompt);
  requires item: 0 <= item < CP_MAX_ITEMS && 0 <= owner_runs(*batch, item) <= CP_MAX_DEPTH &&
    runs_count(*batch, item, owner_runs(*batch, item));
  assigns \nothing;
  ensures room: \result != 0 <==> prompt_avoids_owner(*batch, prompt, n_items, item);
*/
int cp_item_has_room(const struct cp_batch *batch, int prompt, int n_items, int item);

/* ---- batch_room.c: chunks ---- */

/* The item without users that was put or taken before all others; -1: each has users. */
/*@
  requires valid: \valid_read(batch);
  requires items: 0 <= batch->n_items <= CP_MAX_ITEMS;
  assigns \nothing;
  ensures result: -1 <= \result < batch->n_items;
  ensures batch_6_first: 0 <= \result ==> leaves_first(*batch, \result);
  ensures batch_6_none: \result == -1 ==>
    \forall integer i; 0 <= i < batch->n_items ==> !may_leave(*batch, i);
*/
int cp_batch_least_recent(const struct cp_batch *batch);

/* Gives back the chunks of an owner's runs. */
/*@
  requires valid: \valid(batch);
  requires ok: pool_ok(batch->pool);
  requires owner: owner_fits(owner) && runs_owned(*batch, owner);
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1];
  ensures ok: pool_ok(batch->pool);
  ensures batch_7_chunks: chunks_given_back(\old(*batch), *batch, owner);
*/
void cp_batch_release(struct cp_batch *batch, int owner);

/* An item that is there leaves. */
/*@
  requires valid: \valid(batch);
  requires ok: pool_ok(batch->pool);
  requires item: 0 <= item < CP_MAX_ITEMS && runs_owned(*batch, item);
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->item[item].n_runs;
  ensures ok: pool_ok(batch->pool);
  ensures batch_7_removed: item_removed(\old(*batch), *batch, item);
*/
void cp_batch_remove(struct cp_batch *batch, int item);

/* BATCH-6: makes n chunks free. Items without users leave until they are. CP_OK; or
 * CP_ERROR_POOL_FULL, and then none has left. */
/*@
  requires valid: \valid(batch);
  requires ok: pool_ok(batch->pool) && items_owned(*batch);
  requires n: 0 <= n <= CP_MAX_DEPTH;
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->item[0 .. CP_MAX_ITEMS - 1];
  ensures ok: pool_ok(batch->pool) && items_owned(*batch);
  ensures result: \result == CP_OK || \result == CP_ERROR_POOL_FULL;
  ensures batch_6_full: \result == CP_ERROR_POOL_FULL <==>
    \old(batch->pool.n_free) + room_of(\old(*batch), batch->n_items) < n;
  ensures batch_6_unchanged: \result != CP_OK ==> *batch == \old(*batch);
  ensures batch_6_made: \result == CP_OK ==> room_made(\old(*batch), *batch, n);
*/
int cp_batch_make_room(struct cp_batch *batch, int n);

/* Takes a free chunk for run `run` of an owner. */
/*@
  requires valid: \valid(batch);
  requires ok: pool_ok(batch->pool);
  requires free: batch->pool.n_free > 0;
  assigns batch->pool.n_free, batch->owner[0 .. CP_MAX_CHUNKS - 1];
  ensures ok: pool_ok(batch->pool);
  ensures result: 0 <= \result < batch->pool.capacity;
  ensures batch_2_given: chunk_given(\old(*batch), *batch, \result, owner, run);
*/
int cp_batch_take(struct cp_batch *batch, int owner, int run);

/* ---- batch_add.c: runs of new tokens ---- */

/* RUNS-1: cuts spans into runs of an owner that has none, each in a free chunk. */
/*@
  requires valid: \valid(batch) && 0 <= n_spans && \valid_read(spans + (0 .. n_spans - 1));
  requires ok: batch_ok(*batch) && owner_exists(*batch, owner) && owner_runs(*batch, owner) == 0;
  requires runs: owner_takes(*batch, owner, spans_runs(spans, n_spans, batch->chunk_size));
  requires spans: spans_ok(spans, n_spans) && spans_all_apart(spans, n_spans);
  requires room: owner_avoids_spans(*batch, owner, spans, 0, n_spans);
  requires free: spans_runs(spans, n_spans, batch->chunk_size) <= batch->pool.n_free;
  assigns batch->pool.n_free, batch->owner[0 .. CP_MAX_CHUNKS - 1],
    batch->item[0 .. CP_MAX_ITEMS - 1], batch->runs[0 .. CP_MAX_ITEMS - 1],
    batch->prompt[0 .. CP_MAX_SEQUENCES - 1];
  ensures ok: batch_ok(*batch);
  ensures grew: owner_grew(\old(*batch), *batch, owner);
  ensures runs_1: spans_are_cut(*batch, owner, spans, n_spans);
  ensures count: owner_runs(*batch, owner) == spans_runs(spans, n_spans, batch->chunk_size);
*/
void cp_batch_add_spans(struct cp_batch *batch, int owner, const struct cp_span *spans,
                        int n_spans);

#endif
