/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH-8: when a prompt gets a token more, when it needs a run for it, and what has changed then.
 * Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_TOKEN_H
#define CHUNKPROOF_LOGIC_BATCH_TOKEN_H

#include "proofs/logic/batch_grow.h"

/*@
  // Prompt p is there, and may have a token at this position.
  predicate token_fits(struct cp_batch b, integer p, integer position) =
    0 <= p < b.n_prompts && 0 <= position < 0x7FFFFFFF &&
    prompt_avoids(b, p, b.prompt[p].n_items, position, 1);
  // RUNS-8: the last own run is not full, and ends at this position; else a run begins.
  logic integer last_own(struct cp_batch b, integer p) = b.prompt[p].n_own - 1;
  predicate token_grows(struct cp_batch b, integer p, integer position) =
    0 <= last_own(b, p) && owner_tokens(b, -1 - p, last_own(b, p)) < b.chunk_size &&
    owner_position(b, -1 - p, last_own(b, p)) + owner_tokens(b, -1 - p, last_own(b, p)) ==
      position;
  predicate run_begins(struct cp_batch b, integer p, integer position) =
    token_fits(b, p, position) && !token_grows(b, p, position);
  // Prompt p may have a run more; and BATCH-6, so many chunks are free or may become so.
  predicate run_fits(struct cp_batch b, integer p) =
    b.prompt[p].n_own + items_runs(b, p, b.prompt[p].n_items) < CP_MAX_DEPTH;
  predicate room_suffices(struct cp_batch b, integer n) =
    n <= b.pool.n_free + room_of(b, b.n_items);

  // Prompt p has its first n own runs still. Its last one has a token more, or it has one more, of
  // one token, in a chunk that was free or that of an item that has left.
  predicate own_kept(struct cp_batch a, struct cp_batch b, integer p, integer n) =
    \forall integer k; 0 <= k < n ==> run_same(a, -1 - p, b, -1 - p, k);
  predicate run_longer(struct cp_batch a, struct cp_batch b, integer p) =
    b.prompt[p].n_own == a.prompt[p].n_own &&
    owner_chunk(b, -1 - p, last_own(b, p)) == owner_chunk(a, -1 - p, last_own(a, p)) &&
    owner_position(b, -1 - p, last_own(b, p)) == owner_position(a, -1 - p, last_own(a, p)) &&
    owner_tokens(b, -1 - p, last_own(b, p)) == owner_tokens(a, -1 - p, last_own(a, p)) + 1;
  predicate chunk_was_free(struct cp_batch a, struct cp_batch b, integer x) =
    pool_used(a.pool, x) ==> 0 <= a.owner[x].owner < a.n_items && item_left(a, b, a.owner[x].owner);
  predicate run_begun(struct cp_batch a, struct cp_batch b, integer p) =
    b.prompt[p].n_own == a.prompt[p].n_own + 1 && owner_tokens(b, -1 - p, last_own(b, p)) == 1 &&
    chunk_was_free(a, b, owner_chunk(b, -1 - p, last_own(b, p)));
  logic integer runs_more(struct cp_batch a, struct cp_batch b, integer p) =
    b.prompt[p].n_own - a.prompt[p].n_own;
  // The last token of prompt p stands at this position, in slot `slot` of chunk x.
  predicate token_placed(struct cp_batch b, integer p, integer position, integer x, integer slot) =
    x == owner_chunk(b, -1 - p, last_own(b, p)) &&
    slot == owner_tokens(b, -1 - p, last_own(b, p)) - 1 &&
    owner_position(b, -1 - p, last_own(b, p)) + slot == position;
  // Prompt p has a token more, and the items that it had.
  predicate token_more(struct cp_batch a, struct cp_batch b, integer p) =
    b.prompt[p].id == a.prompt[p].id && b.prompt[p].n_items == a.prompt[p].n_items &&
    (\forall integer i; 0 <= i < a.prompt[p].n_items ==>
      prompt_item(b, p, i) == prompt_item(a, p, i)) &&
    b.prompt[p].n_tokens == a.prompt[p].n_tokens + 1;

  // BATCH-6: each item and each chunk is as it was. Or one chunk was taken; and where items have
  // left, there would have been none without the last of them.
  predicate nothing_left(struct cp_batch a, struct cp_batch b) =
    b.pool == a.pool && (\forall integer x; 0 <= x < CP_MAX_CHUNKS ==> owner_same(a, b, x)) &&
    (\forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(a, b, i));
  predicate left_needed(struct cp_batch a, struct cp_batch b) =
    (\forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(a, b, i)) ||
    (\exists integer i; 0 <= i < a.n_items && left_last(a, b, 0, i));
*/

#endif
