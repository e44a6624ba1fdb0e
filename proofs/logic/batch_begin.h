/* SPDX-License-Identifier: Apache-2.0 */
/* A prompt begins, with items that are there (BATCH-5): steps of the proof of ref/batch_join.c.
 * Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_BEGIN_H
#define CHUNKPROOF_LOGIC_BATCH_BEGIN_H

#include "proofs/logic/batch_admit.h"

#include "proofs/logic/batch_add.h"

/*@
  // BATCH-3: the items of the first n names have so many users more, and no other has.
  predicate names_used{L}(struct cp_batch a, struct cp_batch b, unsigned long long *names,
                          integer n, integer more) =
    \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
      (names_have(names, n, i) ==> item_has_more(a, b, i, more)) &&
      (!names_have(names, n, i) ==> item_has_more(a, b, i, 0));
  // BATCH-6: they were taken one by one.
  predicate name_dated{L}(struct cp_batch a, struct cp_batch b, unsigned long long *names,
                          integer i) =
    b.item[named(names, i)].taken == a.clock + 1 + i;
  predicate names_dated{L}(struct cp_batch a, struct cp_batch b, unsigned long long *names,
                           integer n) =
    (\forall integer i; 0 <= i < n ==> name_dated(a, b, names, i)) &&
    (\forall integer i; 0 <= i < CP_MAX_ITEMS ==> b.item[i].name == a.item[i].name &&
      b.item[i].n_runs == a.item[i].n_runs && b.item[i].n_users == a.item[i].n_users) &&
    (\forall integer i; 0 <= i < CP_MAX_ITEMS ==> !names_have(names, n, i) ==>
      b.item[i].taken == a.item[i].taken);

  // The tokens of the items can be counted.
  predicate owner_in_chunks(struct cp_batch b, integer o) =
    0 <= owner_runs(b, o) <= CP_MAX_DEPTH && runs_in_chunks(b, o, owner_runs(b, o));
  predicate names_in_chunks{L}(struct cp_batch b, unsigned long long *names, integer n) =
    \forall integer i; 0 <= i < n ==> owner_in_chunks(b, named(names, i));
  predicate items_in_chunks(struct cp_batch b, integer p) =
    \forall integer i; 0 <= i < b.prompt[p].n_items ==> owner_in_chunks(b, prompt_item(b, p, i));
  // The runs of the items of the first n names are the same.
  predicate names_keep_runs{L}(struct cp_batch a, struct cp_batch b, unsigned long long *names,
                          integer n) =
    \forall integer i; 0 <= i < n ==> runs_same(a, named(names, i), b, named(names, i));
*/

/*@ ghost
  /@ requires valid: 0 <= n && \valid_read(names + (0 .. n - 1));
     requires ok: batch_ok(b) && names_there(b, names, n) && names_apart(b, names, n);
     assigns \nothing;
     ensures differ: names_differ(names, n); @/
  void names_are_different(struct cp_batch b, const unsigned long long *names, int n) {
    /@ loop invariant j: 0 <= j <= n;
       loop invariant differ: names_differ(names, j);
       loop assigns j; loop variant n - j; @/
    for (int j = 0; j < n; j++) {
      int item = (int)(names[j] % CP_MAX_ITEMS);
      /@ assert item: item == named(names, j) && item_has_name(b, item, names[j]); @/
      /@ assert some: run_in_range(b, item, 0); @/
      /@ assert apart: name_apart(b, names, j); @/
      /@ assert first: names_avoid(b, names, j, owner_position(b, item, 0),
           owner_tokens(b, item, 0)); @/
      /@ assert one: \forall integer i; 0 <= i < j ==> item_there(b, named(names, i)) &&
           name_avoids(b, names, i, owner_position(b, item, 0), owner_tokens(b, item, 0)); @/
      /@ assert avoid: \forall integer i; 0 <= i < j ==> run_avoids(b, named(names, i), 0,
           owner_position(b, item, 0), owner_tokens(b, item, 0)); @/
      /@ assert other: \forall integer i; 0 <= i < j ==> named(names, i) != item; @/
    }
  }

  /@ requires valid: 0 <= n && \valid_read(names + (0 .. n - 1));
     requires ok: batch_ok(b) && names_there(b, names, n);
     assigns \nothing;
     ensures users: \forall integer i; 0 <= i < n ==>
       0 <= b.item[named(names, i)].n_users <= b.n_prompts;
     ensures all: \forall integer i; 0 <= i < b.n_items ==> 0 < b.item[i].n_runs ==>
       0 <= b.item[i].n_users; @/
  void named_users_are_bound(struct cp_batch b, const unsigned long long *names, int n) {
    users_are_bound(b);
    /@ assert all: \forall integer i; 0 <= i < b.n_items ==> item_counted(b, i); @/
    /@ assert counted: \forall integer i; 0 <= i < n ==> item_there(b, named(names, i)) &&
         item_counted(b, named(names, i)); @/
  }

  /@ requires ok: batch_ok(a) && b.n_items == a.n_items;
     requires used: names_used(a, b, names, n, 1);
     assigns \nothing;
     ensures room: room_of(b, b.n_items) == room_beside(a, names, n, a.n_items); @/
  void room_is_beside(struct cp_batch a, struct cp_batch b, const unsigned long long *names,
                      int n) {
    users_are_bound(a);
    /@ loop invariant i: 0 <= i <= a.n_items;
       loop invariant room: room_of(b, i) == room_beside(a, names, n, i);
       loop assigns i; loop variant a.n_items - i; @/
    for (int i = 0; i < a.n_items; i++) {
      /@ assert counted: item_counted(a, i); @/
      /@ assert may: may_leave(b, i) <==> may_leave_for(a, names, n, i); @/
    }
  }

  /@ requires prompt: 0 <= p < CP_MAX_SEQUENCES && items_fit(b, p);
     requires n: 0 <= n <= b.prompt[p].n_items;
     assigns \nothing;
     ensures grow: 0 <= items_runs(b, p, n) <= items_runs(b, p, b.prompt[p].n_items); @/
  void items_runs_grow(struct cp_batch b, int p, int n) {
    /@ loop invariant i: 0 <= i <= b.prompt[p].n_items;
       loop invariant some: 0 <= items_runs(b, p, i);
       loop invariant grow: n <= i ==> 0 <= items_runs(b, p, n) <= items_runs(b, p, i);
       loop assigns i; loop variant b.prompt[p].n_items - i; @/
    for (int i = 0; i < b.prompt[p].n_items; i++) {
      /@ assert item: 0 <= owner_runs(b, prompt_item(b, p, i)); @/
    }
  }

  /@ requires prompt: 0 <= p < CP_MAX_SEQUENCES && 0 <= n && prompt_lists(b, p, names, n);
     requires stay: \forall integer i; 0 <= i < n ==>
       owner_runs(b, named(names, i)) == owner_runs(a, named(names, i));
     assigns \nothing;
     ensures runs: items_runs(b, p, n) == named_runs(a, names, n); @/
  void listed_runs(struct cp_batch a, struct cp_batch b, int p, const unsigned long long *names,
                   int n) {
    /@ loop invariant i: 0 <= i <= n;
       loop invariant runs: items_runs(b, p, i) == named_runs(a, names, i);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      /@ assert item: prompt_item(b, p, i) == named(names, i); @/
    }
  }

  /@ requires n: 0 <= n;
     requires stay: \forall integer i; 0 <= i < n ==>
       owner_runs(b, named(names, i)) == owner_runs(a, named(names, i));
     assigns \nothing;
     ensures runs: named_runs(b, names, n) == named_runs(a, names, n); @/
  void named_runs_stay(struct cp_batch a, struct cp_batch b, const unsigned long long *names,
                       int n) {
    /@ loop invariant i: 0 <= i <= n;
       loop invariant runs: named_runs(b, names, i) == named_runs(a, names, i);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      /@ assert item: owner_runs(b, named(names, i)) == owner_runs(a, named(names, i)); @/
    }
  }

  /@ requires prompt: 0 <= p < CP_MAX_SEQUENCES && items_fit(a, p);
     requires same: b.prompt[p].n_items == a.prompt[p].n_items &&
       (\forall integer i; 0 <= i < a.prompt[p].n_items ==>
         prompt_item(b, p, i) == prompt_item(a, p, i));
     requires stay: items_stay_to(a, p, b, a.prompt[p].n_items);
     assigns \nothing;
     ensures sum: items_sum(b, p, b.prompt[p].n_items) ==
       items_sum(a, p, a.prompt[p].n_items); @/
  void items_sum_stays(struct cp_batch a, struct cp_batch b, int p) {
    /@ loop invariant i: 0 <= i <= a.prompt[p].n_items;
       loop invariant sum: items_sum(b, p, i) == items_sum(a, p, i);
       loop assigns i; loop variant a.prompt[p].n_items - i; @/
    for (int i = 0; i < a.prompt[p].n_items; i++) {
      int item = a.prompt[p].item[i];
      /@ assert item: item == prompt_item(a, p, i) && item == prompt_item(b, p, i); @/
      sum_stays(a, item, b, item);
    }
  }

  /@ requires prompt: prompt_lists(b, p, names, n);
     assigns \nothing;
     ensures has: \forall integer i; names_have(names, n, i) <==> prompt_has_item(b, p, i); @/
  void listed_have(struct cp_batch b, int p, const unsigned long long *names, int n) {
    /@ assert items: \forall integer i; 0 <= i < n ==>
         prompt_item(b, p, i) == named(names, i); @/
  }

  /@ requires valid: 0 <= n && \valid_read(names + (0 .. n - 1));
     requires avoid: names_avoid(a, names, n, from, many);
     requires lists: \forall integer i; 0 <= i < n ==> prompt_item(b, p, i) == named(names, i);
     requires stay: names_keep_runs(a, b, names, n);
     assigns \nothing;
     ensures avoid: items_avoid(b, p, n, from, many); @/
  void listed_avoid(struct cp_batch a, struct cp_batch b, int p, const unsigned long long *names,
                    int n, int from, int many) {
    /@ loop invariant i: 0 <= i <= n;
       loop invariant avoid: items_avoid(b, p, i, from, many);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      int item = (int)(names[i] % CP_MAX_ITEMS);
      /@ assert item: item == named(names, i) && item == prompt_item(b, p, i); @/
      /@ assert avoids: name_avoids(a, names, i, from, many); @/
      runs_avoid_still(a, item, b, item, from, many);
    }
  }

  /@ requires valid: 0 <= i && \valid_read(names + (0 .. i));
     requires ok: batch_ok(a) && names_there(a, names, i + 1) && name_apart(a, names, i);
     requires lists: \forall integer j; 0 <= j <= i ==> prompt_item(b, p, j) == named(names, j);
     requires stay: names_keep_runs(a, b, names, i + 1);
     requires own: 0 <= p < CP_MAX_SEQUENCES && b.prompt[p].n_own == 0;
     assigns \nothing;
     ensures avoids: prompt_avoids_owner(b, p, i, prompt_item(b, p, i)); @/
  void listed_apart(struct cp_batch a, struct cp_batch b, int p, const unsigned long long *names,
                    int i) {
    int item = (int)(names[i] % CP_MAX_ITEMS);
    /@ assert item: item == named(names, i) && item == prompt_item(b, p, i) &&
         item_there(a, item) && owner_ok(a, item); @/
    /@ assert same: runs_same(a, item, b, item); @/
    /@ loop invariant k: 0 <= k <= owner_runs(a, item);
       loop invariant avoids: \forall integer h; 0 <= h < k ==>
         prompt_avoids(b, p, i, owner_position(b, item, h), owner_tokens(b, item, h));
       loop assigns k; loop variant owner_runs(a, item) - k; @/
    for (int k = 0; k < a.item[item].n_runs; k++) {
      /@ assert run: run_same(a, item, b, item, k); @/
      listed_avoid(a, b, p, names, i, a.runs[item].run[k].position, a.runs[item].run[k].n_tokens);
    }
  }

  /@ requires valid: 0 <= n && \valid_read(names + (0 .. n - 1));
     requires ok: batch_ok(a) && names_there(a, names, n) && names_apart(a, names, n);
     requires lists: 0 <= p < CP_MAX_SEQUENCES && prompt_lists(b, p, names, n);
     requires stay: b.n_items == a.n_items && names_keep_runs(a, b, names, n);
     requires own: b.prompt[p].n_own == 0 && prompt_summed(b, p);
     requires few: n <= named_runs(a, names, n) <= CP_MAX_DEPTH;
     assigns \nothing;
     ensures ok: prompt_ok(b, p); @/
  void listed_is_ok(struct cp_batch a, struct cp_batch b, int p, const unsigned long long *names,
                    int n) {
    listed_runs(a, b, p, names, n);
    /@ loop invariant i: 0 <= i <= n;
       loop invariant there: items_there(b, p, i);
       loop invariant apart: items_apart(b, p, i);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      /@ assert there: item_there(a, named(names, i)) && item_there(b, named(names, i)); @/
      /@ assert item: prompt_item(b, p, i) == named(names, i); @/
      listed_apart(a, b, p, names, i);
    }
  }
*/

#endif
