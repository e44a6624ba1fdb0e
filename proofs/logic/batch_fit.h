/* SPDX-License-Identifier: Apache-2.0 */
/* Why the plan of a valid batch finds room (BATCH-9): steps of the proof of ref/batch_plan.c. No
 * prompt has an item twice, so that its items are those that it shares and the others. A list has
 * an entry for each prompt with the item, so that all lists have no more entries than all prompts
 * have items. Each ghost function is a lemma: its contract is the statement, its body the proof; a
 * loop is an induction. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_FIT_H
#define CHUNKPROOF_LOGIC_BATCH_FIT_H

#include "proofs/logic/batch_leave.h"
#include "proofs/logic/batch_plan.h"

/*@
  // Behind the runs, entries and descriptors of item i, which is before n, there are those of n.
  predicate shared_in_order(struct cp_batch b, integer p, integer n) =
    \forall integer i; 0 <= i < n ==> shared_with(b, p, b.prompt[p].n_items, i) ==>
      0 <= shared_at(b, p, i) && shared_at(b, p, i) + owner_runs(b, i) <= shared_at(b, p, n);
  predicate alone_in_order(struct cp_batch b, integer p, integer n) =
    \forall integer i; 0 <= i < n ==> !item_shared(b, prompt_item(b, p, i)) ==>
      shared_at(b, p, b.n_items) <= alone_at(b, p, i) &&
      alone_at(b, p, i) + owner_runs(b, prompt_item(b, p, i)) <= alone_at(b, p, n);
  predicate lists_in_order(struct cp_batch b, integer n) =
    \forall integer i; 0 <= i < n ==> item_shared(b, i) ==>
      0 <= list_at(b, i) && list_at(b, i) + users(b, i, b.n_prompts) <= list_at(b, n);
  predicate descriptors_in_order(struct cp_batch b, integer n) =
    \forall integer i; 0 <= i < n ==> item_shared(b, i) ==>
      0 <= descriptors(b, i) && descriptors(b, i) + owner_runs(b, i) <= descriptors(b, n);
  // Of two prompts with an item the later one has the later entry.
  predicate users_in_order(struct cp_batch b, integer item, integer n) =
    \forall integer p; 0 <= p < n ==> prompt_has_item(b, p, item) ==>
      0 <= users(b, item, p) && users(b, item, p) + 1 <= users(b, item, n);
*/

/* ---- What a prompt has ---- */

/*@ ghost
  /@ requires n: 0 <= n;
     assigns \nothing;
     ensures none: shared_part(b, p, 0, n, what) == 0; @/
  void nothing_is_shared(struct cp_batch b, int p, int n, int what) {
    /@ loop invariant i: 0 <= i <= n;
       loop invariant none: shared_part(b, p, 0, i, what) == 0;
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      /@ assert no: !shared_with(b, p, 0, i); @/
    }
  }

  /@ requires prompt: 0 <= p < CP_MAX_SEQUENCES && 0 <= m < CP_MAX_DEPTH && 0 <= n;
     requires new: !items_have(b, p, m, prompt_item(b, p, m)) && 0 <= prompt_item(b, p, m) < n;
     assigns \nothing;
     ensures more: item_shared(b, prompt_item(b, p, m)) ==> shared_part(b, p, m + 1, n, what) ==
       shared_part(b, p, m, n, what) + item_size(b, prompt_item(b, p, m), what);
     ensures same: !item_shared(b, prompt_item(b, p, m)) ==>
       shared_part(b, p, m + 1, n, what) == shared_part(b, p, m, n, what); @/
  void one_item_more(struct cp_batch b, int p, int m, int n, int what) {
    int item = b.prompt[p].item[m];
    /@ assert have: \forall integer i; items_have(b, p, m + 1, i) <==>
         (items_have(b, p, m, i) || i == item); @/
    /@ loop invariant i: 0 <= i <= n;
       loop invariant more: item_shared(b, item) && item < i ==>
         shared_part(b, p, m + 1, i, what) ==
           shared_part(b, p, m, i, what) + item_size(b, item, what);
       loop invariant same: !(item_shared(b, item) && item < i) ==>
         shared_part(b, p, m + 1, i, what) == shared_part(b, p, m, i, what);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      /@ assert with: i != item ==> (shared_with(b, p, m + 1, i) <==> shared_with(b, p, m, i)); @/
      /@ assert it: i == item ==> !shared_with(b, p, m, i) &&
           (shared_with(b, p, m + 1, i) <==> item_shared(b, i)); @/
      /@ assert yes: shared_with(b, p, m, i) ==> shared_part(b, p, m, i + 1, what) ==
           shared_part(b, p, m, i, what) + item_size(b, i, what); @/
      /@ assert now: shared_with(b, p, m + 1, i) ==> shared_part(b, p, m + 1, i + 1, what) ==
           shared_part(b, p, m + 1, i, what) + item_size(b, i, what); @/
      /@ assert no: !shared_with(b, p, m, i) ==>
           shared_part(b, p, m, i + 1, what) == shared_part(b, p, m, i, what); @/
      /@ assert not: !shared_with(b, p, m + 1, i) ==>
           shared_part(b, p, m + 1, i + 1, what) == shared_part(b, p, m + 1, i, what); @/
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts;
     assigns \nothing;
     ensures items: shared_part(b, p, b.prompt[p].n_items, b.n_items, 0) +
       alone_part(b, p, b.prompt[p].n_items, 0) == b.prompt[p].n_items;
     ensures runs: shared_part(b, p, b.prompt[p].n_items, b.n_items, 1) +
       alone_part(b, p, b.prompt[p].n_items, 1) == items_runs(b, p, b.prompt[p].n_items);
     ensures tokens: shared_part(b, p, b.prompt[p].n_items, b.n_items, 2) +
       alone_part(b, p, b.prompt[p].n_items, 2) == items_sum(b, p, b.prompt[p].n_items); @/
  void parts_are_all(struct cp_batch b, int p) {
    items_are_apart(b, p);
    /@ assert ok: prompt_ok(b, p); @/
    nothing_is_shared(b, p, b.n_items, 0);
    nothing_is_shared(b, p, b.n_items, 1);
    nothing_is_shared(b, p, b.n_items, 2);
    /@ loop invariant m: 0 <= m <= b.prompt[p].n_items;
       loop invariant items: shared_part(b, p, m, b.n_items, 0) + alone_part(b, p, m, 0) == m;
       loop invariant runs: shared_part(b, p, m, b.n_items, 1) + alone_part(b, p, m, 1) ==
         items_runs(b, p, m);
       loop invariant tokens: shared_part(b, p, m, b.n_items, 2) + alone_part(b, p, m, 2) ==
         items_sum(b, p, m);
       loop assigns m; loop variant b.prompt[p].n_items - m; @/
    for (int m = 0; m < b.prompt[p].n_items; m++) {
      /@ assert new: !items_have(b, p, m, prompt_item(b, p, m)); @/
      /@ assert there: item_there(b, prompt_item(b, p, m)); @/
      one_item_more(b, p, m, b.n_items, 0);
      one_item_more(b, p, m, b.n_items, 1);
      one_item_more(b, p, m, b.n_items, 2);
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts && 0 <= n <= b.n_items;
     requires what: what == 0 || what == 1;
     assigns \nothing;
     ensures some: 0 <= shared_part(b, p, b.prompt[p].n_items, n, what);
     ensures rises: shared_part(b, p, b.prompt[p].n_items, n, what) <=
       shared_part(b, p, b.prompt[p].n_items, b.n_items, what); @/
  void shared_part_rises(struct cp_batch b, int p, int n, int what) {
    /@ loop invariant i: 0 <= i <= b.n_items;
       loop invariant some: 0 <= shared_part(b, p, b.prompt[p].n_items, i, what);
       loop invariant rises: n <= i ==> 0 <= shared_part(b, p, b.prompt[p].n_items, n, what) <=
         shared_part(b, p, b.prompt[p].n_items, i, what);
       loop assigns i; loop variant b.n_items - i; @/
    for (int i = 0; i < b.n_items; i++) {
      /@ assert ok: owner_ok(b, i); @/
      /@ assert size: 0 <= item_size(b, i, what); @/
      /@ assert yes: shared_with(b, p, b.prompt[p].n_items, i) ==>
           shared_part(b, p, b.prompt[p].n_items, i, what) <=
             shared_part(b, p, b.prompt[p].n_items, i + 1, what); @/
      /@ assert no: !shared_with(b, p, b.prompt[p].n_items, i) ==>
           shared_part(b, p, b.prompt[p].n_items, i, what) ==
             shared_part(b, p, b.prompt[p].n_items, i + 1, what); @/
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts && 0 <= n <= b.prompt[p].n_items;
     requires what: what == 0 || what == 1;
     assigns \nothing;
     ensures some: 0 <= alone_part(b, p, n, what);
     ensures rises: alone_part(b, p, n, what) <= alone_part(b, p, b.prompt[p].n_items, what); @/
  void alone_part_rises(struct cp_batch b, int p, int n, int what) {
    /@ assert ok: prompt_ok(b, p); @/
    /@ loop invariant i: 0 <= i <= b.prompt[p].n_items;
       loop invariant some: 0 <= alone_part(b, p, i, what);
       loop invariant rises: n <= i ==>
         0 <= alone_part(b, p, n, what) <= alone_part(b, p, i, what);
       loop assigns i; loop variant b.prompt[p].n_items - i; @/
    for (int i = 0; i < b.prompt[p].n_items; i++) {
      /@ assert there: item_there(b, prompt_item(b, p, i)); @/
      /@ assert ok: owner_ok(b, prompt_item(b, p, i)); @/
      /@ assert size: 0 <= item_size(b, prompt_item(b, p, i), what); @/
    }
  }
*/

/* ---- Its runs find room ---- */

/*@ ghost
  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts && 0 <= i < b.n_items;
     requires shared: shared_with(b, p, b.prompt[p].n_items, i);
     assigns \nothing;
     ensures some: 0 <= shared_at(b, p, i) && 0 <= owner_runs(b, i) <= CP_MAX_DEPTH;
     ensures room: shared_at(b, p, i) + owner_runs(b, i) <= CP_MAX_DEPTH; @/
  void shared_fits(struct cp_batch b, int p, int i) {
    /@ assert ok: prompt_ok(b, p) && owner_ok(b, i) && owner_ok(b, -1 - p); @/
    parts_are_all(b, p);
    shared_part_rises(b, p, i, 1);
    shared_part_rises(b, p, i + 1, 1);
    alone_part_rises(b, p, 0, 1);
    /@ assert next: shared_at(b, p, i + 1) == shared_at(b, p, i) + owner_runs(b, i); @/
  }

  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts && 0 <= n < b.prompt[p].n_items;
     requires alone: !item_shared(b, prompt_item(b, p, n));
     assigns \nothing;
     ensures some: 0 <= alone_at(b, p, n) && 0 <= owner_runs(b, prompt_item(b, p, n));
     ensures room: alone_at(b, p, n) + owner_runs(b, prompt_item(b, p, n)) <= CP_MAX_DEPTH; @/
  void alone_fits(struct cp_batch b, int p, int n) {
    /@ assert ok: prompt_ok(b, p) && owner_ok(b, -1 - p); @/
    /@ assert item: item_there(b, prompt_item(b, p, n)) && owner_ok(b, prompt_item(b, p, n)); @/
    parts_are_all(b, p);
    shared_part_rises(b, p, b.n_items, 1);
    alone_part_rises(b, p, n, 1);
    alone_part_rises(b, p, n + 1, 1);
    /@ assert next: alone_at(b, p, n + 1) ==
         alone_at(b, p, n) + owner_runs(b, prompt_item(b, p, n)); @/
  }

  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts;
     assigns \nothing;
     ensures some: 0 <= shared_at(b, p, b.n_items) <= own_at(b, p) && 0 <= b.prompt[p].n_own;
     ensures room: own_at(b, p) + b.prompt[p].n_own <= CP_MAX_DEPTH; @/
  void own_fits(struct cp_batch b, int p) {
    /@ assert ok: prompt_ok(b, p) && owner_ok(b, -1 - p); @/
    parts_are_all(b, p);
    shared_part_rises(b, p, b.n_items, 1);
    alone_part_rises(b, p, b.prompt[p].n_items, 1);
  }
*/

/* ---- One behind the other ---- */

/*@ ghost
  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts && 0 <= n <= b.n_items;
     assigns \nothing;
     ensures some: 0 <= shared_at(b, p, n);
     ensures order: shared_in_order(b, p, n); @/
  void shared_are_in_order(struct cp_batch b, int p, int n) {
    /@ loop invariant i: 0 <= i <= n;
       loop invariant some: 0 <= shared_at(b, p, i);
       loop invariant order: shared_in_order(b, p, i);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      /@ assert ok: owner_ok(b, i); @/
      /@ assert yes: shared_with(b, p, b.prompt[p].n_items, i) ==>
           shared_at(b, p, i + 1) == shared_at(b, p, i) + owner_runs(b, i); @/
      /@ assert no: !shared_with(b, p, b.prompt[p].n_items, i) ==>
           shared_at(b, p, i + 1) == shared_at(b, p, i); @/
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= p < b.n_prompts && 0 <= n <= b.prompt[p].n_items;
     assigns \nothing;
     ensures some: shared_at(b, p, b.n_items) <= alone_at(b, p, n);
     ensures order: alone_in_order(b, p, n); @/
  void alone_are_in_order(struct cp_batch b, int p, int n) {
    /@ assert ok: prompt_ok(b, p); @/
    /@ loop invariant i: 0 <= i <= n;
       loop invariant some: shared_at(b, p, b.n_items) <= alone_at(b, p, i);
       loop invariant order: alone_in_order(b, p, i);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      /@ assert item: item_there(b, prompt_item(b, p, i)) && owner_ok(b, prompt_item(b, p, i)); @/
      /@ assert yes: !item_shared(b, prompt_item(b, p, i)) ==> alone_at(b, p, i + 1) ==
           alone_at(b, p, i) + owner_runs(b, prompt_item(b, p, i)); @/
      /@ assert no: item_shared(b, prompt_item(b, p, i)) ==>
           alone_at(b, p, i + 1) == alone_at(b, p, i); @/
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= n <= b.n_items;
     assigns \nothing;
     ensures some: 0 <= descriptors(b, n);
     ensures order: descriptors_in_order(b, n); @/
  void descriptors_are_in_order(struct cp_batch b, int n) {
    /@ loop invariant i: 0 <= i <= n;
       loop invariant some: 0 <= descriptors(b, i);
       loop invariant order: descriptors_in_order(b, i);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      /@ assert ok: owner_ok(b, i); @/
      /@ assert yes: item_shared(b, i) ==>
           descriptors(b, i + 1) == descriptors(b, i) + owner_runs(b, i); @/
      /@ assert no: !item_shared(b, i) ==> descriptors(b, i + 1) == descriptors(b, i); @/
    }
  }
*/

/* ---- And the lists ---- */

/*@ ghost
  /@ requires n: 0 <= n;
     assigns \nothing;
     ensures some: 0 <= users(b, item, n);
     ensures order: users_in_order(b, item, n); @/
  void users_are_in_order(struct cp_batch b, int item, int n) {
    /@ loop invariant q: 0 <= q <= n;
       loop invariant some: 0 <= users(b, item, q);
       loop invariant order: users_in_order(b, item, q);
       loop assigns q; loop variant n - q; @/
    for (int q = 0; q < n; q++) {
      /@ assert either: prompt_has_item(b, q, item) || !prompt_has_item(b, q, item); @/
    }
  }

  /@ requires sizes: batch_sizes(b) && 0 <= n < CP_MAX_ITEMS;
     assigns \nothing;
     ensures more: item_shared(b, n) ==>
       list_at(b, n + 1) == list_at(b, n) + users(b, n, b.n_prompts);
     ensures same: !item_shared(b, n) ==> list_at(b, n + 1) == list_at(b, n); @/
  void one_list_more(struct cp_batch b, int n) {
    /@ loop invariant q: 0 <= q <= b.n_prompts;
       loop invariant more: item_shared(b, n) ==>
         entries(b, n + 1, q) == entries(b, n, q) + users(b, n, q);
       loop invariant same: !item_shared(b, n) ==> entries(b, n + 1, q) == entries(b, n, q);
       loop assigns q; loop variant b.n_prompts - q; @/
    for (int q = 0; q < b.n_prompts; q++) {
      /@ assert with: shared_with(b, q, b.prompt[q].n_items, n) <==>
           item_shared(b, n) && prompt_has_item(b, q, n); @/
      /@ assert size: item_size(b, n, 0) == 1; @/
      /@ assert next: shared_with(b, q, b.prompt[q].n_items, n) ==>
           shared_part(b, q, b.prompt[q].n_items, n + 1, 0) ==
             shared_part(b, q, b.prompt[q].n_items, n, 0) + 1; @/
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= n <= b.n_items;
     assigns \nothing;
     ensures bound: 0 <= list_at(b, n) <= b.n_prompts * CP_MAX_DEPTH;
     ensures none: n == 0 ==> list_at(b, n) == 0; @/
  void lists_are_bound(struct cp_batch b, int n) {
    /@ loop invariant q: 0 <= q <= b.n_prompts;
       loop invariant bound: 0 <= entries(b, n, q) <= q * CP_MAX_DEPTH;
       loop invariant none: n == 0 ==> entries(b, n, q) == 0;
       loop assigns q; loop variant b.n_prompts - q; @/
    for (int q = 0; q < b.n_prompts; q++) {
      /@ assert ok: prompt_ok(b, q); @/
      parts_are_all(b, q);
      shared_part_rises(b, q, n, 0);
      alone_part_rises(b, q, 0, 0);
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= n <= b.n_items;
     assigns \nothing;
     ensures order: lists_in_order(b, n); @/
  void lists_are_in_order(struct cp_batch b, int n) {
    /@ loop invariant i: 0 <= i <= n;
       loop invariant order: lists_in_order(b, i);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      lists_are_bound(b, i);
      one_list_more(b, i);
      /@ assert some: item_shared(b, i) ==> 0 <= users(b, i, b.n_prompts); @/
    }
  }

  /@ requires ok: batch_ok(b) && 0 <= i < b.n_items && item_shared(b, i);
     assigns \nothing;
     ensures begin: 0 <= list_at(b, i);
     ensures end: list_at(b, i + 1) == list_at(b, i) + users(b, i, b.n_prompts);
     ensures users: users(b, i, b.n_prompts) == b.item[i].n_users;
     ensures room: list_at(b, i + 1) <= CP_MAX_SERVED; @/
  void list_fits(struct cp_batch b, int i) {
    lists_are_bound(b, i);
    lists_are_bound(b, i + 1);
    one_list_more(b, i);
  }
*/

#endif
