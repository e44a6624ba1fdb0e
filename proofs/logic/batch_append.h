/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH-8: when a token more of a prompt needs a run, and when there is room for one. Provers alone
 * read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_APPEND_H
#define CHUNKPROOF_LOGIC_BATCH_APPEND_H

#include "proofs/logic/batch_keep.h"

/*@
  // RUNS-8: the last own run is not full, and ends at this position.
  logic integer last_own(struct cp_batch b, integer p) = b.prompt[p].n_own - 1;
  predicate token_grows(struct cp_batch b, integer p, integer position) =
    0 <= last_own(b, p) && owner_tokens(b, -1 - p, last_own(b, p)) < b.chunk_size &&
    owner_position(b, -1 - p, last_own(b, p)) + owner_tokens(b, -1 - p, last_own(b, p)) ==
      position;
  // Prompt p may have a run more; and BATCH-6, so many chunks are free or may become so.
  predicate run_fits(struct cp_batch b, integer p) =
    b.prompt[p].n_own + items_runs(b, p, b.prompt[p].n_items) < CP_MAX_DEPTH;
  predicate room_suffices(struct cp_batch b, integer n) =
    n <= b.pool.n_free + room_of(b, b.n_items);
  // Prompt p has its first n own runs still.
  predicate own_kept(struct cp_batch a, struct cp_batch b, integer p, integer n) =
    \forall integer k; 0 <= k < n ==> run_same(a, -1 - p, b, -1 - p, k);
*/

/*@ ghost
  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts;
     assigns \nothing;
     ensures fits: prompt_fits(b, p);
     ensures counts: prompt_counts(b, p); @/
  void prompt_is_countable(struct cp_batch b, int p) {
    /@ assert ok: prompt_ok(b, p) && owner_ok(b, -1 - p); @/
    /@ assert there: \forall integer i; 0 <= i < b.prompt[p].n_items ==>
         item_there(b, prompt_item(b, p, i)); @/
    /@ assert items: \forall integer i; 0 <= i < b.prompt[p].n_items ==>
         owner_ok(b, prompt_item(b, p, i)); @/
    /@ assert counts: \forall integer i; 0 <= i < b.prompt[p].n_items ==>
         runs_count(b, prompt_item(b, p, i), owner_runs(b, prompt_item(b, p, i))); @/
  }
*/

#endif
