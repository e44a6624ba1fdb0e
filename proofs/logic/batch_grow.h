/* SPDX-License-Identifier: Apache-2.0 */
/* An owner gets runs, each in a free chunk (BATCH-4, BATCH-5). Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_GROW_H
#define CHUNKPROOF_LOGIC_BATCH_GROW_H

#include "proofs/logic/batch_put.h"

/*@
  predicate no_prompt_has(struct cp_batch b, integer item) =
    \forall integer p; 0 <= p < b.n_prompts ==> !prompt_has_item(b, p, item);
  // Owner o may have n runs more. An item gets runs before a prompt has it.
  predicate owner_takes(struct cp_batch b, integer o, integer n) =
    o < 0
      ? b.prompt[-1 - o].n_own + n <= CP_MAX_DEPTH &&
        b.prompt[-1 - o].n_own + items_runs(b, -1 - o, b.prompt[-1 - o].n_items) + n <= CP_MAX_DEPTH
      : b.item[o].n_runs + n <= CP_MAX_DEPTH && b.item[o].n_users == 0 && no_prompt_has(b, o) &&
        b.item[o].name % CP_MAX_ITEMS == o;
  // It has none of `many` positions from `from` on; and may have a run of them.
  predicate owner_avoids(struct cp_batch b, integer o, integer from, integer many) =
    runs_avoid(b, o, owner_runs(b, o), from, many) &&
    (o < 0 ==> items_avoid(b, -1 - o, b.prompt[-1 - o].n_items, from, many));
  predicate owner_has_room(struct cp_batch b, integer o, integer from, integer many) =
    owner_takes(b, o, 1) && owner_avoids(b, o, from, many) && 1 <= many <= b.chunk_size &&
    0 <= from && from + many <= 0x7FFFFFFF;

  // It has none of the positions of the spans i .. n - 1.
  predicate owner_avoids_spans{L}(struct cp_batch b, integer o, struct cp_span *a, integer i,
                                  integer n) =
    \forall integer j; i <= j < n ==> owner_avoids(b, o, a[j].position, a[j].n_tokens);

  predicate prompt_avoids_spans{L}(struct cp_batch b, integer p, struct cp_span *a, integer n) =
    \forall integer i; 0 <= i < n ==>
      prompt_avoids(b, p, b.prompt[p].n_items, a[i].position, a[i].n_tokens);

  // Owner o has the runs that it had; all but these and the pool is the same.
  predicate sizes_same(struct cp_batch a, struct cp_batch b) =
    b.pool.capacity == a.pool.capacity && b.chunk_size == a.chunk_size &&
    b.n_items == a.n_items && b.n_prompts == a.n_prompts;
  predicate runs_grew(struct cp_batch a, struct cp_batch b, integer o) =
    b.pool.n_free == a.pool.n_free - (owner_runs(b, o) - owner_runs(a, o)) &&
    owner_runs(a, o) <= owner_runs(b, o) &&
    (\forall integer k; 0 <= k < owner_runs(a, o) ==> run_same(a, o, b, o, k));
  predicate item_kept(struct cp_batch a, struct cp_batch b, integer o, integer i) =
    item_named_same(a, b, i) && (i != o ==> b.item[i].n_runs == a.item[i].n_runs);
  predicate items_kept(struct cp_batch a, struct cp_batch b, integer o) =
    \forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_kept(a, b, o, i);
  predicate runs_kept(struct cp_batch a, struct cp_batch b, integer o) =
    \forall integer i, k; 0 <= i < CP_MAX_ITEMS ==> 0 <= k < CP_MAX_DEPTH ==> i != o ==>
      run_same(a, i, b, i, k);
  predicate prompts_kept(struct cp_batch a, struct cp_batch b, integer o) =
    \forall integer p; 0 <= p < CP_MAX_SEQUENCES ==> p != -1 - o ==> b.prompt[p] == a.prompt[p];
  predicate prompt_kept(struct cp_batch a, struct cp_batch b, integer p) =
    b.prompt[p].id == a.prompt[p].id && b.prompt[p].n_items == a.prompt[p].n_items &&
    (\forall integer i; prompt_item(b, p, i) == prompt_item(a, p, i));
  predicate owner_grew(struct cp_batch a, struct cp_batch b, integer o) =
    sizes_same(a, b) && runs_grew(a, b, o) && items_kept(a, b, o) && runs_kept(a, b, o) &&
    prompts_kept(a, b, o) && (o < 0 ==> prompt_kept(a, b, -1 - o));
  // It has one more, of `many` tokens from `from` on, in a chunk that was free.
  predicate run_added(struct cp_batch a, struct cp_batch b, integer o, integer from,
                      integer many) =
    owner_grew(a, b, o) && owner_runs(b, o) == owner_runs(a, o) + 1 &&
    owner_position(b, o, owner_runs(a, o)) == from &&
    owner_tokens(b, o, owner_runs(a, o)) == many &&
    chunk_given(a, b, owner_chunk(b, o, owner_runs(a, o)), o, owner_runs(a, o)) &&
    (o < 0 ==> b.prompt[-1 - o].n_tokens == a.prompt[-1 - o].n_tokens + many);
*/

#endif
