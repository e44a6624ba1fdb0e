/* SPDX-License-Identifier: Apache-2.0 */
/* A token more of a prompt (BATCH-8). With chunks of 4, a prompt with one own run (C5, 3, 10):
 *
 *     append at 13    the run grows                        (C5, 4, 10)
 *     append at 14    its chunk is full: a run begins      (C5, 4, 10) (C8, 1, 14)
 *     append at 20    15 would be next: a run begins       (C5, 4, 10) (C8, 1, 14) (C9, 1, 20) */
#include <limits.h>

#include "batch_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/batch_append.h"
#endif

/* RUNS-8: is the position behind the last own run, and its chunk not full? */
/*@
  requires valid: \valid_read(batch);
  requires prompt: 0 <= prompt < CP_MAX_SEQUENCES;
  requires own: 0 <= batch->prompt[prompt].n_own <= CP_MAX_DEPTH;
  requires counts: runs_count(*batch, -1 - prompt, batch->prompt[prompt].n_own);
  assigns \nothing;
  ensures runs_8_grows: \result != 0 <==> token_grows(*batch, prompt, position);
*/
static int can_grow(const struct cp_batch *batch, int prompt, int position) {
    int n_own = batch->prompt[prompt].n_own;
    if (n_own == 0) {
        return 0;
    }
    //@ assert last: run_counts(*batch, -1 - prompt, last_own(*batch, prompt));
    struct cp_run last = batch->prompt[prompt].own[n_own - 1];
    return last.n_tokens < batch->chunk_size && last.position + last.n_tokens == position;
}

/* Makes room for a run more of the prompt. */
/*@
  requires valid: \valid(batch);
  requires ok: batch_ok(*batch);
  requires prompt: 0 <= prompt < batch->n_prompts;
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->item[0 .. CP_MAX_ITEMS - 1];
  ensures ok: batch_ok(*batch);
  ensures result: \result == CP_OK || \result == CP_ERROR_TOO_LONG ||
    \result == CP_ERROR_POOL_FULL;
  ensures batch_1_long: \result == CP_ERROR_TOO_LONG <==>
    !run_fits(\old(*batch), prompt);
  ensures batch_6_full: \result == CP_ERROR_POOL_FULL <==>
    run_fits(\old(*batch), prompt) && !room_suffices(\old(*batch), 1);
  ensures batch_6_unchanged: \result != CP_OK ==> *batch == \old(*batch);
  ensures batch_6_made: \result == CP_OK ==> room_made(\old(*batch), *batch, 1);
  ensures left: \result == CP_OK ==> some_left(\old(*batch), *batch);
*/
static int make_room_for_run(struct cp_batch *batch, int prompt) {
    //@ ghost struct cp_batch before = *batch;
    //@ ghost prompt_is_countable(*batch, prompt);
    //@ assert ok: prompt_ok(*batch, prompt);
    if (cp_prompt_runs(batch, prompt) == CP_MAX_DEPTH) {
        return CP_ERROR_TOO_LONG;
    }
    //@ assert owned: items_owned(*batch);
    int status = cp_batch_make_room(batch, 1);
    //@ assert rest: status == CP_OK ==> rest_same(before, *batch);
    //@ assert left: status == CP_OK ==> some_left(before, *batch);
    //@ ghost if (status == CP_OK) { left_is_ok(before, *batch); }
    return status;
}

/* RUNS-8: a run without tokens yet, behind the others. */
/*@
  requires valid: \valid(batch);
  requires ok: pool_ok(batch->pool);
  requires free: 0 < batch->pool.n_free;
  requires prompt: 0 <= prompt < CP_MAX_SEQUENCES;
  requires own: 0 <= batch->prompt[prompt].n_own < CP_MAX_DEPTH;
  assigns batch->pool.n_free, batch->owner[0 .. CP_MAX_CHUNKS - 1],
    batch->prompt[prompt].n_own, batch->prompt[prompt].own[0 .. CP_MAX_DEPTH - 1],
    batch->stamp.epoch;
  ensures ok: pool_ok(batch->pool);
  ensures runs_8_one: batch->prompt[prompt].n_own == \old(batch->prompt[prompt].n_own) + 1;
  ensures runs_8_empty: owner_tokens(*batch, -1 - prompt, last_own(*batch, prompt)) == 0;
  ensures runs_8_position:
    owner_position(*batch, -1 - prompt, last_own(*batch, prompt)) == position;
  ensures kept: own_kept(\old(*batch), *batch, prompt, last_own(*batch, prompt));
  ensures batch_2_given: chunk_given(\old(*batch), *batch,
    owner_chunk(*batch, -1 - prompt, last_own(*batch, prompt)), -1 - prompt,
    last_own(*batch, prompt));
  ensures batch_9_epoch:
    batch->stamp.epoch == (unsigned long long)(\old(batch->stamp.epoch) + 1);
*/
static void begin_run(struct cp_batch *batch, int prompt, int position) {
    int n_own = batch->prompt[prompt].n_own++;
    int chunk = cp_batch_take(batch, -1 - prompt, n_own);
    batch->prompt[prompt].own[n_own] = (struct cp_run){chunk, 0, position};
    batch->stamp.epoch++;
}

int cp_batch_append(struct cp_batch *batch, int prompt, int position, int *chunk, int *slot) {
    if (prompt < 0 || prompt >= batch->n_prompts || position < 0 || position == INT_MAX) {
        return CP_ERROR_ARGUMENT;
    }
    //@ ghost struct cp_batch before = *batch;
    //@ ghost prompt_is_countable(*batch, prompt);
    if (!cp_prompt_has_room(batch, prompt, batch->prompt[prompt].n_items,
                            (struct cp_span){position, 1})) {
        return CP_ERROR_ARGUMENT;
    }
    //@ assert fits: token_fits(before, prompt, position);
    int grows = can_grow(batch, prompt, position);
    int status = grows ? CP_OK : make_room_for_run(batch, prompt);
    if (status != CP_OK) {
        return status;
    }
    //@ ghost struct cp_batch room = *batch;
    //@ ghost tokens_are_bound(*batch, prompt);
    if (!grows) {
        //@ ghost room_is_still(before, room, prompt, position);
        begin_run(batch, prompt, position);
    }
    //@ assert more: runs_more(before, *batch, prompt) == (grows ? 0 : 1);
    /*@ assert epoch: batch->stamp.epoch ==
          (unsigned long long)(before.stamp.epoch + runs_more(before, *batch, prompt)); */
    int last = batch->prompt[prompt].n_own - 1;
    //@ assert own: own_kept(before, *batch, prompt, last);
    *chunk = batch->prompt[prompt].own[last].chunk;
    *slot = batch->prompt[prompt].own[last].n_tokens++;
    batch->prompt[prompt].n_tokens++;
    batch->stamp.step++;
    //@ assert kept: own_kept(before, *batch, prompt, last);
    //@ assert longer: grows ==> token_added(before, *batch, prompt);
    //@ assert grew: !grows ==> owner_grew(room, *batch, -1 - prompt);
    //@ assert added: !grows ==> run_added(room, *batch, -1 - prompt, position, 1);
    /*@ ghost if (grows) {
          longer_is_ok(before, *batch, prompt, position);
        } else {
          added_is_ok(room, *batch, -1 - prompt, position, 1);
          left_since(before, room, *batch);
          was_free(before, room, *batch, *chunk);
        } */
    return CP_OK;
}
