/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH-1 to BATCH-3: what a valid batch is. What a loop of ref/batch_check.c has seen so far ends
 * in _to. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_VALID_H
#define CHUNKPROOF_LOGIC_BATCH_VALID_H

#include "proofs/logic/batch_room.h"

/*@
  predicate batch_sizes(struct cp_batch b) =
    1 <= b.chunk_size <= CP_MAX_CHUNK_SIZE && 0 <= b.n_items <= CP_MAX_ITEMS &&
    0 <= b.n_prompts <= CP_MAX_SEQUENCES;
  predicate owner_exists(struct cp_batch b, integer o) = -b.n_prompts <= o < b.n_items;

  // BATCH-1: run k of owner o is in range, and has no position of those before it.
  predicate run_in_range(struct cp_batch b, integer o, integer k) =
    0 <= owner_chunk(b, o, k) < b.pool.capacity && 1 <= owner_tokens(b, o, k) <= b.chunk_size &&
    0 <= owner_position(b, o, k) &&
    owner_position(b, o, k) + owner_tokens(b, o, k) <= 0x7FFFFFFF;
  predicate run_is_apart(struct cp_batch b, integer o, integer k) =
    runs_avoid(b, o, k, owner_position(b, o, k), owner_tokens(b, o, k));
  predicate runs_to(struct cp_batch b, integer o, integer n) =
    (\forall integer k; 0 <= k < n ==> run_in_range(b, o, k)) &&
    (\forall integer k; 0 <= k < n ==> run_is_apart(b, o, k));
  predicate owner_ok(struct cp_batch b, integer o) =
    0 <= owner_runs(b, o) <= CP_MAX_DEPTH && runs_to(b, o, owner_runs(b, o));
  predicate owners_to(struct cp_batch b, integer n) =
    \forall integer o; -b.n_prompts <= o < n ==> owner_ok(b, o);

  // BATCH-1: the number of an item that is there is in its name.
  predicate item_there(struct cp_batch b, integer i) = 0 <= i < b.n_items && 0 < b.item[i].n_runs;
  predicate item_named(struct cp_batch b, integer i) =
    0 < b.item[i].n_runs ==> b.item[i].name % CP_MAX_ITEMS == i;
  predicate names_to(struct cp_batch b, integer n) =
    \forall integer i; 0 <= i < n ==> item_named(b, i);

  // BATCH-1: the first n items of prompt p are there; and are apart.
  predicate items_there(struct cp_batch b, integer p, integer n) =
    \forall integer i; 0 <= i < n ==> item_there(b, prompt_item(b, p, i));
  predicate items_apart(struct cp_batch b, integer p, integer n) =
    \forall integer i; 0 <= i < n ==> prompt_avoids_owner(b, p, i, prompt_item(b, p, i));
  // The tokens of the first n items.
  axiomatic ItemsSum {
    logic integer items_sum(struct cp_batch b, integer p, integer n);
    axiom items_sum_0: \forall struct cp_batch b, integer p; items_sum(b, p, 0) == 0;
    axiom items_sum_next: \forall struct cp_batch b, integer p, n; 0 <= n ==>
      items_sum(b, p, n + 1) == items_sum(b, p, n) +
        owner_sum(b, prompt_item(b, p, n), owner_runs(b, prompt_item(b, p, n)));
  }
  predicate prompt_listed(struct cp_batch b, integer p) =
    0 <= b.prompt[p].n_items <= CP_MAX_DEPTH && items_there(b, p, b.prompt[p].n_items) &&
    b.prompt[p].n_own + items_runs(b, p, b.prompt[p].n_items) <= CP_MAX_DEPTH;
  predicate prompt_summed(struct cp_batch b, integer p) = b.prompt[p].n_tokens ==
    owner_sum(b, -1 - p, b.prompt[p].n_own) + items_sum(b, p, b.prompt[p].n_items);
  predicate prompt_ok(struct cp_batch b, integer p) =
    prompt_listed(b, p) && items_apart(b, p, b.prompt[p].n_items) && prompt_summed(b, p);
  predicate prompts_to(struct cp_batch b, integer n) =
    \forall integer p; 0 <= p < n ==> prompt_ok(b, p);
  predicate batch_lists(struct cp_batch b) =
    batch_sizes(b) && owners_to(b, b.n_items) && names_to(b, b.n_items) &&
    prompts_to(b, b.n_prompts);

  // BATCH-2: chunk x is that of a run.
  predicate chunk_owned(struct cp_batch b, integer x) =
    owner_exists(b, b.owner[x].owner) &&
    0 <= b.owner[x].run < owner_runs(b, b.owner[x].owner) &&
    owner_chunk(b, b.owner[x].owner, b.owner[x].run) == x;
  predicate owned_to(struct cp_batch b, integer n) =
    \forall integer o; -b.n_prompts <= o < n ==> runs_owned(b, o);
  predicate chunks_to(struct cp_batch b, integer i) =
    \forall integer x; pool_used(b.pool, x) ==> b.pool.pos[x] < i ==> chunk_owned(b, x);
  predicate chunks_owned(struct cp_batch b) =
    \forall integer x; pool_used(b.pool, x) ==> chunk_owned(b, x);
  predicate batch_chunks(struct cp_batch b) = owned_to(b, b.n_items) && chunks_owned(b);

  // BATCH-3: how many of the first n prompts have the item.
  axiomatic Users {
    logic integer users(struct cp_batch b, integer item, integer n);
    axiom users_0: \forall struct cp_batch b, integer item; users(b, item, 0) == 0;
    axiom users_yes: \forall struct cp_batch b, integer item, n; 0 <= n ==>
      prompt_has_item(b, n, item) ==> users(b, item, n + 1) == users(b, item, n) + 1;
    axiom users_no: \forall struct cp_batch b, integer item, n; 0 <= n ==>
      !prompt_has_item(b, n, item) ==> users(b, item, n + 1) == users(b, item, n);
  }
  predicate item_counted(struct cp_batch b, integer i) =
    0 < b.item[i].n_runs ==> b.item[i].n_users == users(b, i, b.n_prompts);
  predicate counted_to(struct cp_batch b, integer n) =
    \forall integer i; 0 <= i < n ==> item_counted(b, i);

  // A valid batch.
  predicate batch_ok(struct cp_batch b) =
    pool_ok(b.pool) && batch_lists(b) && batch_chunks(b) && counted_to(b, b.n_items);

  // BATCH-4: item i is there and has this name.
  predicate item_has_name(struct cp_batch b, integer i, integer name) =
    item_there(b, i) && b.item[i].name == name;
  // BATCH-7: and no prompt has it.
  predicate item_droppable(struct cp_batch b, integer i, integer name) =
    item_has_name(b, i, name) && b.item[i].n_users == 0;

  // Owner u of b has the runs of owner o of a; prompt q of b is prompt p of a, but for its items.
  predicate run_same(struct cp_batch a, integer o, struct cp_batch b, integer u, integer k) =
    owner_chunk(b, u, k) == owner_chunk(a, o, k) &&
    owner_tokens(b, u, k) == owner_tokens(a, o, k) &&
    owner_position(b, u, k) == owner_position(a, o, k);
  predicate runs_same(struct cp_batch a, integer o, struct cp_batch b, integer u) =
    owner_runs(b, u) == owner_runs(a, o) &&
    (\forall integer k; 0 <= k < owner_runs(a, o) ==> run_same(a, o, b, u, k));
  predicate prompt_same(struct cp_batch a, integer p, struct cp_batch b, integer q) =
    b.prompt[q].id == a.prompt[p].id && b.prompt[q].n_tokens == a.prompt[p].n_tokens &&
    b.prompt[q].n_items == a.prompt[p].n_items &&
    (\forall integer i; 0 <= i < a.prompt[p].n_items ==>
      prompt_item(b, q, i) == prompt_item(a, p, i)) && runs_same(a, -1 - p, b, -1 - q);
  // Item i of b is that of a, with so many users more.
  predicate item_has_more(struct cp_batch a, struct cp_batch b, integer i, integer more) =
    b.item[i].name == a.item[i].name && b.item[i].n_runs == a.item[i].n_runs &&
    b.item[i].taken == a.item[i].taken && b.item[i].n_users == a.item[i].n_users + more;
  predicate users_changed_to(struct cp_batch a, struct cp_batch b, integer p, integer n,
                             integer more) =
    \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
      (items_have(a, p, n, i) ==> item_has_more(a, b, i, more)) &&
      (!items_have(a, p, n, i) ==> item_has_more(a, b, i, 0));
  predicate users_changed(struct cp_batch a, struct cp_batch b, integer p, integer more) =
    users_changed_to(a, b, p, a.prompt[p].n_items, more);
  // Prompt p of a is not in b; the last prompt of a has its number.
  logic integer prompt_was(struct cp_batch a, integer p, integer q) =
    q == p ? a.n_prompts - 1 : q;
  predicate prompts_left(struct cp_batch a, struct cp_batch b, integer p) =
    b.n_prompts == a.n_prompts - 1 && (\forall integer q; 0 <= q < b.n_prompts ==>
      prompt_same(a, prompt_was(a, p, q), b, q));
  predicate prompt_left(struct cp_batch a, struct cp_batch b, integer p) =
    prompts_left(a, b, p) && chunks_given_back(a, b, -1 - p) && users_changed(a, b, p, -1);
*/

#endif
