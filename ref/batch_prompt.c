/* SPDX-License-Identifier: Apache-2.0 */
/* A prompt leaves a batch (BATCH-7). */
#include "batch_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/batch_leave.h"
#endif

/* Each item of a prompt gets so many users more. */
/*@
  requires valid: \valid(batch);
  requires prompt: 0 <= prompt < CP_MAX_SEQUENCES && -1 <= more <= 1;
  requires items: 0 <= batch->prompt[prompt].n_items <= CP_MAX_DEPTH &&
    items_differ(*batch, prompt);
  requires users: \forall integer i; 0 <= i < batch->prompt[prompt].n_items ==>
    -1 <= batch->item[prompt_item(*batch, prompt, i)].n_users <= CP_MAX_SEQUENCES;
  assigns batch->item[0 .. CP_MAX_ITEMS - 1];
  ensures batch_3_users: users_changed(\old(*batch), *batch, prompt, more);
*/
static void count_user(struct cp_batch *batch, int prompt, int more) {
    //@ ghost struct cp_batch before = *batch;
    /*@ loop invariant i: 0 <= i <= batch->prompt[prompt].n_items;
        loop invariant users: users_changed_to(before, *batch, prompt, i, more);
        loop assigns i, batch->item[0 .. CP_MAX_ITEMS - 1];
        loop variant batch->prompt[prompt].n_items - i; */
    for (int i = 0; i < batch->prompt[prompt].n_items; i++) {
        //@ assert next: !items_have(before, prompt, i, prompt_item(before, prompt, i));
        //@ assert item: batch->prompt[prompt].item[i] == prompt_item(before, prompt, i);
        batch->item[batch->prompt[prompt].item[i]].n_users += more;
    }
}

/* The prompt `from` gets the number `to`. */
/*@
  requires valid: \valid(batch);
  requires prompts: 0 <= from < CP_MAX_SEQUENCES && 0 <= to < CP_MAX_SEQUENCES && from != to;
  requires items: 0 <= batch->prompt[from].n_items <= CP_MAX_DEPTH;
  requires own: 0 <= batch->prompt[from].n_own <= CP_MAX_DEPTH;
  requires chunks: \forall integer k; 0 <= k < batch->prompt[from].n_own ==>
    0 <= owner_chunk(*batch, -1 - from, k) < CP_MAX_CHUNKS &&
    batch->owner[owner_chunk(*batch, -1 - from, k)].owner == -1 - from;
  assigns batch->prompt[to], batch->owner[0 .. CP_MAX_CHUNKS - 1];
  ensures batch_7_number: prompt_same(\old(*batch), from, *batch, to);
  ensures id: batch->prompt[to].id == batch->prompt[from].id;
  ensures owners: owners_moved(\old(*batch), *batch, from, to, batch->prompt[from].n_own);
*/
static void renumber(struct cp_batch *batch, int from, int to) {
    batch->prompt[to].id = batch->prompt[from].id;
    batch->prompt[to].n_tokens = batch->prompt[from].n_tokens;
    batch->prompt[to].n_items = batch->prompt[from].n_items;
    batch->prompt[to].n_own = batch->prompt[from].n_own;
    //@ ghost struct cp_batch before = *batch;
    /*@ loop invariant i: 0 <= i <= batch->prompt[from].n_items;
        loop invariant items: \forall integer j; 0 <= j < i ==>
          batch->prompt[to].item[j] == batch->prompt[from].item[j];
        loop assigns i, batch->prompt[to].item[0 .. CP_MAX_DEPTH - 1];
        loop variant batch->prompt[from].n_items - i; */
    for (int i = 0; i < batch->prompt[from].n_items; i++) {
        batch->prompt[to].item[i] = batch->prompt[from].item[i];
    }
    /*@ loop invariant k: 0 <= k <= batch->prompt[from].n_own;
        loop invariant own: \forall integer j; 0 <= j < k ==>
          run_same(before, -1 - from, *batch, -1 - to, j);
        loop invariant owners: owners_moved(before, *batch, from, to, k);
        loop assigns k, batch->prompt[to].own[0 .. CP_MAX_DEPTH - 1],
          batch->owner[0 .. CP_MAX_CHUNKS - 1];
        loop variant batch->prompt[from].n_own - k; */
    for (int k = 0; k < batch->prompt[from].n_own; k++) {
        //@ assert chunk: batch->prompt[from].own[k].chunk == owner_chunk(before, -1 - from, k);
        batch->prompt[to].own[k] = batch->prompt[from].own[k];
        batch->owner[batch->prompt[from].own[k].chunk].owner = -1 - to;
    }
}

int cp_batch_leave(struct cp_batch *batch, int prompt) {
    if (prompt < 0 || prompt >= batch->n_prompts) {
        return CP_ERROR_ARGUMENT;
    }
    //@ ghost struct cp_batch before = *batch;
    //@ ghost items_are_apart(*batch, prompt);
    //@ assert prompt: prompt_ok(*batch, prompt) && owner_ok(*batch, -1 - prompt);
    //@ assert owned: runs_owned(*batch, -1 - prompt) && runs_owned(*batch, -batch->n_prompts);
    cp_batch_release(batch, -1 - prompt);
    //@ ghost struct cp_batch released = *batch;
    //@ ghost items_differ_still(before, released, prompt);
    count_user(batch, prompt, -1);
    //@ ghost users_changed_since(before, released, *batch, prompt, -1);
    //@ assert released: chunks_given_back(before, *batch, -1 - prompt);
    batch->stamp.epoch++;
    batch->n_prompts--;
    //@ ghost struct cp_batch counted = *batch;
    if (prompt < batch->n_prompts) {
        renumber(batch, batch->n_prompts, prompt);
    }
    //@ ghost moved_is_left(before, counted, *batch, prompt, batch->n_prompts);
    /*@ assert owners: owners_moved(before, *batch, before.n_prompts - 1, prompt,
          prompt == before.n_prompts - 1 ? 0 : before.prompt[before.n_prompts - 1].n_own); */
    //@ assert chunks: chunks_given_back(before, *batch, -1 - prompt);
    //@ assert users: users_changed(before, *batch, prompt, -1);
    //@ assert items: items_as_they_were(before, *batch);
    //@ assert left: all_left(before, *batch, prompt);
    //@ ghost leave_is_ok(before, *batch, prompt);
    return CP_OK;
}
