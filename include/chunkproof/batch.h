/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of prompts that have modules in common, and the items of modules in a pool
 * (spec/batch.md).
 *
 *     cp_batch_put()     once for a module, when it is encoded: chunks for its keys and values
 *     cp_batch_join()    a prompt of items, with chunks for what it adds
 *     cp_batch_plan()    the plan of the batch, which cp_attend() and its like take (runs.md)
 *     cp_batch_append()  one more token of a prompt
 *     cp_batch_leave()   a prompt has ended
 *     cp_batch_drop()    a module is no longer wanted; items without users also leave by
 *                        themselves when chunks are needed
 *
 * Keys and values are the caller's: where the runs say, after put, join and append and before
 * attention. Callers may read every field, and change them only through the functions below. A
 * batch allocates only in cp_batch_new(). */
#ifndef CHUNKPROOF_BATCH_H
#define CHUNKPROOF_BATCH_H

#include "chunkproof/limits.h"
#include "chunkproof/plan.h"
#include "chunkproof/pool.h"
#include "chunkproof/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n_tokens >= 1 tokens at the positions from `position` on, which are 0 to INT_MAX - 1. */
struct cp_span {
    int position;
    int n_tokens;
};

/* The own text of a module, encoded alone or with a scaffold. */
struct cp_item {
    unsigned long long name;  /* no other item of the batch has it, before or after */
    int n_runs;               /* 0: it is not there */
    int n_users;              /* prompts that have it */
    unsigned long long taken; /* when it was last put or taken, by cp_batch.clock */
};

struct cp_runs {
    struct cp_run run[CP_MAX_DEPTH];
};

struct cp_prompt {
    long long id; /* the caller's name for the prompt */
    int n_tokens; /* of its items and its own */
    int n_items;
    int n_own;
    int item[CP_MAX_DEPTH];
    struct cp_run own[CP_MAX_DEPTH];
};

/* Whose run a chunk in use is: owner is an item, or -1 - p for prompt p. */
struct cp_owner {
    int owner;
    int run;
};

struct cp_batch {
    struct cp_pool pool;
    int chunk_size; /* c: tokens per chunk, 1 .. CP_MAX_CHUNK_SIZE */
    int n_items;    /* items 0 .. n_items - 1 have been there */
    int n_prompts;  /* b */
    unsigned long long clock;
    struct cp_stamp stamp; /* of its plan (PLAN-5) */
    struct cp_owner owner[CP_MAX_CHUNKS];
    struct cp_item item[CP_MAX_ITEMS];
    struct cp_runs runs[CP_MAX_ITEMS]; /* item i has runs[i].run[0 .. item[i].n_runs) */
    struct cp_prompt prompt[CP_MAX_SEQUENCES];
};

#ifdef __FRAMAC__
#include "proofs/logic/batch_admit.h"
#include "proofs/logic/batch_plan.h"
#include "proofs/logic/batch_token.h"
#endif

/* Makes an empty batch over a pool of `capacity` chunks, in memory of its own, of which only the
 * pages in use are touched. On CP_OK the caller owns *batch and gives it to cp_batch_free();
 * otherwise *batch is NULL.
 *   CP_ERROR_ARGUMENT     capacity is not 1 .. CP_MAX_CHUNKS, or chunk_size not 1 ..
 *                         CP_MAX_CHUNK_SIZE
 *   CP_ERROR_NO_MEMORY    the system gave no memory
 *   CP_ERROR_UNSUPPORTED  the system gave no random number, by which batches differ */
int cp_batch_new(struct cp_batch **batch, int capacity, int chunk_size);
void cp_batch_free(struct cp_batch *batch);

/* The same in the caller's memory; `name` differs from that of each other batch and tree whose
 * plans the caller compares (PLAN-5). The arguments are in their ranges. */
/*@
  requires valid: \valid(batch);
  requires sizes: 1 <= capacity <= CP_MAX_CHUNKS && 1 <= chunk_size <= CP_MAX_CHUNK_SIZE;
  assigns *batch;
  ensures ok: batch_ok(*batch);
  ensures sizes: batch->pool.capacity == capacity && batch->chunk_size == chunk_size;
  ensures empty: batch->n_items == 0 && batch->n_prompts == 0 && batch->pool.n_free == capacity;
  ensures plan_5_name: batch->stamp.tree == name;
*/
void cp_batch_init(struct cp_batch *batch, int capacity, int chunk_size, unsigned long long name);

/* BATCH-4. Puts an item of these spans into the pool and gives it a name, *name. Its runs are those
 * of its number, cp_batch_find(batch, *name). The first run has the first tokens of the first span,
 * and so on.
 *   CP_ERROR_ARGUMENT   there is no span, one is out of its range, or two have a position in common
 *   CP_ERROR_TOO_LONG   more than CP_MAX_DEPTH runs; or CP_MAX_ITEMS items have users
 *   CP_ERROR_POOL_FULL  too few chunks are free or may leave */
/*@
  requires valid: \valid(batch) && \valid_read(spans + (0 .. n_spans - 1)) && \valid(name);
  requires ok: batch_ok(*batch);
  requires clock: batch->clock < 0xFFFFFFFFFFFFFFFF / CP_MAX_ITEMS;
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->owner[0 .. CP_MAX_CHUNKS - 1],
    batch->item[0 .. CP_MAX_ITEMS - 1], batch->runs[0 .. CP_MAX_ITEMS - 1],
    batch->prompt[0 .. CP_MAX_SEQUENCES - 1], batch->n_items, batch->clock, *name;
  ensures ok: batch_ok(*batch);
  ensures result: \result == CP_OK || \result == CP_ERROR_ARGUMENT ||
    \result == CP_ERROR_TOO_LONG || \result == CP_ERROR_POOL_FULL;
  ensures batch_4_argument: \result == CP_ERROR_ARGUMENT <==> !spans_to_put(spans, n_spans);
  ensures batch_4_long: \result == CP_ERROR_TOO_LONG <==>
    spans_to_put(spans, n_spans) && !put_fits(\old(*batch), spans, n_spans);
  ensures batch_4_full: \result == CP_ERROR_POOL_FULL <==> spans_to_put(spans, n_spans) &&
    put_fits(\old(*batch), spans, n_spans) && !put_has_room(\old(*batch), spans, n_spans);
  ensures batch_4_unchanged: \result != CP_OK ==>
    *batch == \old(*batch) && *name == \old(*name);
  ensures batch_4_item: \result == CP_OK ==>
    item_is_new(\old(*batch), *batch, *name % CP_MAX_ITEMS, *name);
  ensures batch_4_runs: \result == CP_OK ==>
    spans_are_cut(*batch, *name % CP_MAX_ITEMS, spans, n_spans) &&
    batch->item[*name % CP_MAX_ITEMS].n_runs == spans_runs(spans, n_spans, batch->chunk_size);
  ensures batch_4_number: \result == CP_OK ==> items_all_there(*batch, *name % CP_MAX_ITEMS);
  ensures batch_6_left: \result == CP_OK ==>
    others_left(\old(*batch), *batch, *name % CP_MAX_ITEMS);
  ensures batch_6_order: \result == CP_OK ==>
    others_in_order(\old(*batch), *batch, *name % CP_MAX_ITEMS);
  ensures batch_9_same: \result == CP_OK ==> plan_same(\old(*batch), *batch);
*/
int cp_batch_put(struct cp_batch *batch, const struct cp_span *spans, int n_spans,
                 unsigned long long *name);

/* BATCH-4. The number of the item of this name; -1: it is not there, or has left. An item keeps its
 * number as long as it is there; then another may get it. */
/*@
  requires valid: \valid_read(batch);
  requires items: 0 <= batch->n_items <= CP_MAX_ITEMS;
  assigns \nothing;
  ensures result: \result == -1 || \result == name % CP_MAX_ITEMS;
  ensures found: \result == -1 <==> !item_has_name(*batch, name % CP_MAX_ITEMS, name);
*/
int cp_batch_find(const struct cp_batch *batch, unsigned long long name);

/* BATCH-7. Gives back the chunks of an item that no prompt has.
 *   CP_ERROR_ARGUMENT  it is not there, or has users */
/*@
  requires valid: \valid(batch);
  requires ok: batch_ok(*batch);
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->item[0 .. CP_MAX_ITEMS - 1];
  ensures ok: batch_ok(*batch);
  ensures result: \result == CP_OK || \result == CP_ERROR_ARGUMENT;
  ensures batch_7_error: \result == CP_OK <==>
    item_droppable(\old(*batch), name % CP_MAX_ITEMS, name);
  ensures batch_7_unchanged: \result != CP_OK ==> *batch == \old(*batch);
  ensures batch_7_dropped: \result == CP_OK ==>
    item_removed(\old(*batch), *batch, name % CP_MAX_ITEMS);
*/
int cp_batch_drop(struct cp_batch *batch, unsigned long long name);

/* BATCH-5. Adds prompt *prompt, the last one, with the items of these names, none or more, and with
 * own[0 .. n_own) for the tokens of these spans, none or more, in their order.
 *   CP_ERROR_ARGUMENT        an item is not there, as when it has left since it was put; a span is
 *                            out of its range; or two tokens have one position, as when an item is
 *                            named twice
 *   CP_ERROR_SEQUENCES_FULL  there are CP_MAX_SEQUENCES prompts
 *   CP_ERROR_TOO_LONG        more than CP_MAX_DEPTH runs
 *   CP_ERROR_POOL_FULL       too few chunks are free or may leave */
/*@
  requires valid: \valid(batch) && \valid_read(names + (0 .. n_names - 1)) &&
    \valid_read(spans + (0 .. n_spans - 1)) && \valid(prompt);
  requires ok: batch_ok(*batch);
  requires clock: batch->clock < 0xFFFFFFFFFFFFFFFF / CP_MAX_ITEMS;
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->owner[0 .. CP_MAX_CHUNKS - 1],
    batch->item[0 .. CP_MAX_ITEMS - 1], batch->runs[0 .. CP_MAX_ITEMS - 1],
    batch->prompt[0 .. CP_MAX_SEQUENCES - 1], batch->n_prompts, batch->clock,
    batch->stamp.epoch, *prompt;
  ensures ok: batch_ok(*batch);
  ensures result: \result == CP_OK || \result == CP_ERROR_ARGUMENT ||
    \result == CP_ERROR_SEQUENCES_FULL || \result == CP_ERROR_TOO_LONG ||
    \result == CP_ERROR_POOL_FULL;
  ensures batch_5_argument: \result == CP_ERROR_ARGUMENT <==>
    !join_asked(\old(*batch), names, n_names, spans, n_spans);
  ensures batch_5_prompts: \result == CP_ERROR_SEQUENCES_FULL <==>
    join_asked(\old(*batch), names, n_names, spans, n_spans) &&
    !join_counted(\old(*batch), names, n_names, spans, n_spans);
  ensures batch_5_long: \result == CP_ERROR_TOO_LONG <==>
    join_counted(\old(*batch), names, n_names, spans, n_spans) &&
    !join_fits(\old(*batch), names, n_names, spans, n_spans);
  ensures batch_5_full: \result == CP_ERROR_POOL_FULL <==>
    join_fits(\old(*batch), names, n_names, spans, n_spans) &&
    !join_has_room(\old(*batch), names, n_names, spans, n_spans);
  ensures batch_5_unchanged: \result != CP_OK ==>
    *batch == \old(*batch) && *prompt == \old(*prompt);
  ensures batch_5_number: \result == CP_OK ==> *prompt == \old(batch->n_prompts);
  ensures batch_5_prompt: \result == CP_OK ==>
    prompt_joined(\old(*batch), *batch, id, names, n_names);
  ensures batch_5_runs: \result == CP_OK ==> spans_are_cut(*batch, -1 - *prompt, spans, n_spans) &&
    batch->prompt[*prompt].n_own == spans_runs(spans, n_spans, batch->chunk_size);
  ensures batch_5_items: \result == CP_OK ==>
    names_taken(\old(*batch), *batch, names, n_names);
  ensures batch_6_clock: \result == CP_OK ==>
    clock_follows(\old(*batch), *batch, names, n_names);
  ensures batch_6_left: \result == CP_OK ==>
    others_beside(\old(*batch), *batch, names, n_names);
  ensures batch_6_order: \result == CP_OK ==> left_in_order(\old(*batch), *batch);
  ensures batch_6_need: \result == CP_OK ==> left_in_need(\old(*batch), *batch, 0);
  ensures batch_9_epoch: \result == CP_OK ==>
    batch->stamp.epoch == (unsigned long long)(\old(batch->stamp.epoch) + 1);
*/
int cp_batch_join(struct cp_batch *batch, long long id, const unsigned long long *names,
                  int n_names, const struct cp_span *spans, int n_spans, int *prompt);

/* BATCH-8. Adds a token to a prompt at this position. Its key and value belong into slot *slot of
 * chunk *chunk.
 *   CP_ERROR_ARGUMENT   there is no such prompt; or the position is below 0, is INT_MAX, or has a
 *                       token of the prompt
 *   CP_ERROR_TOO_LONG   a run begins, and the prompt has CP_MAX_DEPTH
 *   CP_ERROR_POOL_FULL  a run begins, and no chunk is free or may leave */
/*@
  requires valid: \valid(batch) && \valid(chunk) && \valid(slot);
  requires apart: \separated(batch, chunk, slot);
  requires ok: batch_ok(*batch);
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->owner[0 .. CP_MAX_CHUNKS - 1],
    batch->item[0 .. CP_MAX_ITEMS - 1], batch->prompt[0 .. CP_MAX_SEQUENCES - 1],
    batch->stamp.epoch, batch->stamp.step, *chunk, *slot;
  ensures ok: batch_ok(*batch);
  ensures result: \result == CP_OK || \result == CP_ERROR_ARGUMENT ||
    \result == CP_ERROR_TOO_LONG || \result == CP_ERROR_POOL_FULL;
  ensures batch_8_argument: \result == CP_ERROR_ARGUMENT <==>
    !token_fits(\old(*batch), prompt, position);
  ensures batch_8_long: \result == CP_ERROR_TOO_LONG <==>
    run_begins(\old(*batch), prompt, position) && !run_fits(\old(*batch), prompt);
  ensures batch_8_full: \result == CP_ERROR_POOL_FULL <==>
    run_begins(\old(*batch), prompt, position) && run_fits(\old(*batch), prompt) &&
    !room_suffices(\old(*batch), 1);
  ensures batch_8_unchanged: \result != CP_OK ==> *batch == \old(*batch);
  ensures batch_8_no_place: \result != CP_OK ==>
    *chunk == \old(*chunk) && *slot == \old(*slot);
  ensures batch_8_place: \result == CP_OK ==>
    token_placed(*batch, prompt, position, *chunk, *slot);
  ensures batch_8_token: \result == CP_OK ==> token_more(\old(*batch), *batch, prompt);
  ensures batch_8_others: \result == CP_OK ==> prompts_kept(\old(*batch), *batch, -1 - prompt);
  ensures runs_8_kept: \result == CP_OK ==>
    own_kept(\old(*batch), *batch, prompt, last_own(*batch, prompt));
  ensures runs_8_grows: \result == CP_OK ==> token_grows(\old(*batch), prompt, position) ==>
    run_longer(\old(*batch), *batch, prompt);
  ensures runs_8_begins: \result == CP_OK ==> !token_grows(\old(*batch), prompt, position) ==>
    run_begun(\old(*batch), *batch, prompt);
  ensures batch_6_none: \result == CP_OK ==> token_grows(\old(*batch), prompt, position) ==>
    nothing_left(\old(*batch), *batch);
  ensures batch_6_left: \result == CP_OK ==> !token_grows(\old(*batch), prompt, position) ==>
    items_left(\old(*batch), *batch) && left_in_order(\old(*batch), *batch);
  ensures batch_6_needed: \result == CP_OK ==> !token_grows(\old(*batch), prompt, position) ==>
    left_needed(\old(*batch), *batch);
  ensures batch_9_step: \result == CP_OK ==>
    batch->stamp.step == (unsigned long long)(\old(batch->stamp.step) + 1);
  ensures batch_9_epoch: \result == CP_OK ==> batch->stamp.epoch ==
    (unsigned long long)(\old(batch->stamp.epoch) + runs_more(\old(*batch), *batch, prompt));
*/
int cp_batch_append(struct cp_batch *batch, int prompt, int position, int *chunk, int *slot);

/* BATCH-7. Removes a prompt and gives back its own chunks. The last prompt takes its number.
 *   CP_ERROR_ARGUMENT  there is no such prompt */
/*@
  requires valid: \valid(batch);
  requires ok: batch_ok(*batch);
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->owner[0 .. CP_MAX_CHUNKS - 1],
    batch->item[0 .. CP_MAX_ITEMS - 1], batch->prompt[0 .. CP_MAX_SEQUENCES - 1],
    batch->n_prompts, batch->stamp.epoch;
  ensures ok: batch_ok(*batch);
  ensures batch_7_result: \result == (0 <= prompt < \old(batch->n_prompts) ? CP_OK :
    CP_ERROR_ARGUMENT);
  ensures batch_7_unchanged: \result != CP_OK ==> *batch == \old(*batch);
  ensures batch_7_left: \result == CP_OK ==> prompt_left(\old(*batch), *batch, prompt);
  ensures batch_9_epoch: \result == CP_OK ==>
    batch->stamp.epoch == (unsigned long long)(\old(batch->stamp.epoch) + 1);
*/
int cp_batch_leave(struct cp_batch *batch, int prompt);

/* BATCH-9. Brings a plan up to date with the batch, as cp_plan_update() does with a tree. Returns 1
 * when it wrote all of the plan, and 0 when it refreshed only n_tokens of prompts and of their last
 * runs (PLAN-6). Sequence s of the plan is prompt s. */
/*@
  requires valid: \valid(plan) && \valid_read(batch) && \separated(plan, batch);
  requires ok: batch_ok(*batch);
  requires epoch: same_epoch(plan->stamp, batch->stamp) ==> plan_paths_of_batch(*plan, *batch);
  assigns *plan;
  ensures batch_9_plan: plan_of_batch(*plan, *batch);
  ensures batch_9_runs: runs_ok(*plan);
  ensures plan_6_rebuilt: !same_epoch(\old(plan->stamp), batch->stamp) ==> \result == 1;
  ensures plan_6_refreshed: same_epoch(\old(plan->stamp), batch->stamp) ==> \result == 0;
  ensures plan_6_kept: same_epoch(\old(plan->stamp), batch->stamp) ==>
    plan_refreshed(\old(*plan), *plan);
*/
int cp_batch_plan(const struct cp_batch *batch, struct cp_plan *plan);

/* Returns NULL when the batch is valid, else the number of the first clause that it breaks
 * ("POOL-1", "POOL-2", "BATCH-1" ...). Takes any content. */
/*@
  requires valid: \valid_read(batch);
  assigns \result \from *batch;
  ensures valid: \result == \null <==> batch_ok(*batch);
*/
const char *cp_batch_check(const struct cp_batch *batch);

#ifdef __cplusplus
}
#endif

#endif
