/* SPDX-License-Identifier: Apache-2.0 */
/* A prompt that has begun takes its items and gets its own runs (BATCH-5, BATCH-6): steps of the
 * proof of ref/batch_join.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_TAKEN_H
#define CHUNKPROOF_LOGIC_BATCH_TAKEN_H

#include "proofs/logic/batch_joined.h"

/*@
  // The items have been taken; all but this and the stamp is the same.
  predicate all_but_taken{L}(struct cp_batch a, struct cp_batch b, unsigned long long *names,
                             integer n) =
    b.pool == a.pool && sizes_same(a, b) && owners_same(a, b) && runs_kept(a, b, CP_MAX_ITEMS) &&
    prompts_kept(a, b, CP_MAX_ITEMS) && names_dated(a, b, names, n);
*/

/*@ ghost
  /@ requires ok: batch_ok(a) && all_but_taken(a, b, names, n);
     assigns \nothing;
     ensures ok: batch_ok(b); @/
  void taken_is_ok(struct cp_batch a, struct cp_batch b, const unsigned long long *names, int n) {
    /@ assert items: items_alike(a, b); @/
    /@ assert prompts: prompts_same(a, b); @/
    alike_is_ok(a, b);
  }

  /@ requires valid: 0 <= n && \valid_read(names + (0 .. n - 1));
     requires taken: all_but_taken(m, b, names, n);
     requires keep: names_keep_runs(a, m, names, n) && names_there(a, names, n) &&
       a.n_items <= CP_MAX_ITEMS;
     requires few: \forall integer i; 0 <= i < n ==>
       owner_runs(a, named(names, i)) <= CP_MAX_DEPTH;
     assigns \nothing;
     ensures keep: names_keep_runs(a, b, names, n); @/
  void taken_keep_runs(struct cp_batch a, struct cp_batch m, struct cp_batch b,
                       const unsigned long long *names, int n) {
    /@ assert items: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         b.item[i].n_runs == m.item[i].n_runs; @/
    /@ loop invariant i: 0 <= i <= n;
       loop invariant keep: names_keep_runs(a, b, names, i);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      int item = (int)(names[i] % CP_MAX_ITEMS);
      /@ assert item: item == named(names, i) && item_has_name(a, item, names[i]); @/
      /@ assert was: runs_same(a, item, m, item); @/
      /@ assert same: \forall integer k; 0 <= k < owner_runs(a, item) ==>
           run_same(m, item, b, item, k); @/
      /@ assert keeps: runs_same(a, item, b, item); @/
    }
  }

  /@ requires valid: 0 <= n && \valid_read(names + (0 .. n - 1)) &&
       0 <= m && \valid_read(spans + (0 .. m - 1));
     requires avoid: names_avoid_spans(a, names, n, spans, m);
     requires lists: 0 <= p < CP_MAX_SEQUENCES && prompt_lists(b, p, names, n) &&
       b.prompt[p].n_own == 0;
     requires keep: names_keep_runs(a, b, names, n);
     assigns \nothing;
     ensures avoid: owner_avoids_spans(b, -1 - p, spans, 0, m); @/
  void listed_avoid_spans(struct cp_batch a, struct cp_batch b, int p,
                          const unsigned long long *names, int n, const struct cp_span *spans,
                          int m) {
    /@ loop invariant i: 0 <= i <= m;
       loop invariant avoid: owner_avoids_spans(b, -1 - p, spans, 0, i);
       loop assigns i; loop variant m - i; @/
    for (int i = 0; i < m; i++) {
      /@ assert avoids: names_avoid(a, names, n, spans[i].position, spans[i].n_tokens); @/
      listed_avoid(a, b, p, names, n, spans[i].position, spans[i].n_tokens);
      /@ assert this: owner_avoids(b, -1 - p, spans[i].position, spans[i].n_tokens); @/
    }
  }

  /@ requires valid: 0 <= n && \valid_read(names + (0 .. n - 1));
     requires items: 0 <= a.n_items <= CP_MAX_ITEMS && p.n_items == a.n_items &&
       p.clock == a.clock;
     requires there: names_there(a, names, n);
     requires added: names_raised(a, p, names, n) && others_beside(a, p, names, n);
     requires taken: all_but_taken(p, q, names, n);
     requires grew: items_kept(q, b, o) && runs_kept(q, b, o) && o < 0 && b.clock == q.clock &&
       b.n_items == q.n_items;
     assigns \nothing;
     ensures taken: names_taken(a, b, names, n);
     ensures others: others_beside(a, b, names, n);
     ensures stay: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> !names_have(names, n, i) ==>
       item_same(p, b, i); @/
  void taken_items(struct cp_batch a, struct cp_batch p, struct cp_batch q, struct cp_batch b,
                   int o, const unsigned long long *names, int n) {
    /@ assert kept: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> item_same(q, b, i); @/
    /@ assert there: \forall integer i; 0 <= i < n ==> item_has_name(a, named(names, i), names[i])
         && item_has_more(a, p, named(names, i), 1) && name_dated(p, q, names, i); @/
    /@ assert but: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> q.item[i].name == p.item[i].name &&
         q.item[i].n_runs == p.item[i].n_runs && q.item[i].n_users == p.item[i].n_users; @/
    /@ loop invariant i: 0 <= i <= n;
       loop invariant taken: \forall integer j; 0 <= j < i ==> name_taken(a, b, names, j);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      int item = (int)(names[i] % CP_MAX_ITEMS);
      /@ assert item: item == named(names, i) && item_has_name(a, item, names[i]); @/
      /@ assert this: item_has_more(a, p, item, 1) && item_same(q, b, item) &&
           name_dated(p, q, names, i); @/
      /@ assert taken: name_taken(a, b, names, i); @/
    }
    /@ assert dated: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> !names_have(names, n, i) ==>
         q.item[i].taken == p.item[i].taken; @/
    /@ assert same: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> !names_have(names, n, i) ==>
         item_same(p, q, i); @/
    /@ assert both: \forall integer i; item_same(p, q, i) ==> item_same(q, b, i) ==>
         item_same(p, b, i); @/
    /@ assert stay: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> !names_have(names, n, i) ==>
         item_same(p, b, i); @/
    /@ assert others: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> !names_have(names, n, i) ==>
         item_same(a, b, i) || (i < a.n_items && item_left(a, b, i)); @/
    /@ assert runs: runs_kept(a, b, CP_MAX_ITEMS); @/
  }

  /@ requires items: 0 <= a.n_items <= CP_MAX_ITEMS;
     requires there: names_there(a, names, n);
     requires added: names_raised(a, p, names, n) && left_in_order(a, p) &&
       left_in_need(a, p, chunks);
     requires users: \forall integer i; 0 <= i < n ==> 0 <= a.item[named(names, i)].n_users;
     requires taken: names_taken(a, b, names, n);
     requires others: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> !names_have(names, n, i) ==>
       item_same(p, b, i);
     requires free: b.pool.n_free == p.pool.n_free - chunks;
     assigns \nothing;
     ensures order: left_in_order(a, b);
     ensures need: left_in_need(a, b, 0); @/
  void taken_left(struct cp_batch a, struct cp_batch p, struct cp_batch b,
                  const unsigned long long *names, int n, int chunks) {
    /@ assert named: \forall integer i; 0 <= i < n ==> !item_left(a, p, named(names, i)) &&
         !item_left(a, b, named(names, i)) && !may_leave(b, named(names, i)); @/
    /@ assert have: \forall integer i; names_have(names, n, i) ==> !item_left(a, p, i) &&
         !item_left(a, b, i) && !may_leave(b, i); @/
    /@ assert left: \forall integer i; 0 <= i < CP_MAX_ITEMS ==>
         (item_left(a, p, i) <==> item_left(a, b, i)); @/
    /@ assert may: \forall integer i; 0 <= i < CP_MAX_ITEMS ==> may_leave(b, i) ==>
         may_leave(p, i); @/
    /@ assert last: \forall integer i; left_last(a, p, chunks, i) ==> left_last(a, b, 0, i); @/
  }

  /@ requires joined: prompt_joined(a, p, id, names, n) && 0 <= a.n_prompts < CP_MAX_SEQUENCES;
     requires taken: sizes_same(p, q) && prompts_kept(p, q, CP_MAX_ITEMS);
     requires grew: owner_grew(q, b, -1 - a.n_prompts);
     assigns \nothing;
     ensures joined: prompt_joined(a, b, id, names, n); @/
  void taken_prompt(struct cp_batch a, struct cp_batch p, struct cp_batch q, struct cp_batch b,
                    long long id, const unsigned long long *names, int n) {
    /@ assert this: q.prompt[a.n_prompts] == p.prompt[a.n_prompts]; @/
    /@ assert items: \forall integer i; prompt_item(q, a.n_prompts, i) ==
         prompt_item(p, a.n_prompts, i); @/
    /@ assert lists: prompt_lists(b, a.n_prompts, names, n); @/
    /@ assert others: \forall integer r; 0 <= r < CP_MAX_SEQUENCES ==> r != a.n_prompts ==>
         p.prompt[r] == a.prompt[r] && q.prompt[r] == p.prompt[r] && b.prompt[r] == q.prompt[r]; @/
    /@ assert kept: \forall integer r; 0 <= r < CP_MAX_SEQUENCES ==> r != a.n_prompts ==>
         b.prompt[r] == a.prompt[r]; @/
  }
*/

#endif
