/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH-5, BATCH-6: what a batch is after a prompt has joined it. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_ADMIT_H
#define CHUNKPROOF_LOGIC_BATCH_ADMIT_H

#include "proofs/logic/batch_join.h"

/*@
  // Prompt p has the items of these names, in their order.
  predicate prompt_lists{L}(struct cp_batch b, integer p, unsigned long long *names, integer n) =
    b.prompt[p].n_items == n &&
    (\forall integer i; 0 <= i < n ==> prompt_item(b, p, i) == named(names, i));
  // BATCH-5: it is the last one; the others are as they were.
  predicate prompt_joined{L}(struct cp_batch a, struct cp_batch b, integer id,
                             unsigned long long *names, integer n) =
    b.n_prompts == a.n_prompts + 1 && b.prompt[a.n_prompts].id == id &&
    prompt_lists(b, a.n_prompts, names, n) && prompts_kept(a, b, -1 - a.n_prompts);

  // BATCH-3, BATCH-6: its item i is there as before, has a user more, and was taken in its turn.
  predicate name_taken{L}(struct cp_batch a, struct cp_batch b, unsigned long long *names,
                          integer i) =
    item_has_name(b, named(names, i), names[i]) &&
    b.item[named(names, i)].n_runs == a.item[named(names, i)].n_runs &&
    b.item[named(names, i)].n_users == a.item[named(names, i)].n_users + 1 &&
    b.item[named(names, i)].taken == a.clock + 1 + i;
  predicate names_taken{L}(struct cp_batch a, struct cp_batch b, unsigned long long *names,
                           integer n) =
    \forall integer i; 0 <= i < n ==> name_taken(a, b, names, i);
  // The clock says when the last one was.
  predicate clock_follows{L}(struct cp_batch a, struct cp_batch b, unsigned long long *names,
                             integer n) =
    b.clock == (n == 0 ? a.clock : b.item[named(names, n - 1)].taken);

  // BATCH-6: no other item is other than it was, unless it has left. No item's runs are others.
  predicate others_beside{L}(struct cp_batch a, struct cp_batch b, unsigned long long *names,
                             integer n) =
    (\forall integer i; 0 <= i < CP_MAX_ITEMS ==> !names_have(names, n, i) ==>
      item_same(a, b, i) || (i < a.n_items && item_left(a, b, i))) &&
    runs_kept(a, b, CP_MAX_ITEMS);
  // Without the last that left, fewer than n chunks would be free.
  predicate left_in_need(struct cp_batch a, struct cp_batch b, integer n) =
    (\forall integer i; 0 <= i < a.n_items ==> !item_left(a, b, i)) ||
    (\exists integer i; left_last(a, b, n, i));
*/

#endif
