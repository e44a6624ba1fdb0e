/* SPDX-License-Identifier: Apache-2.0 */
/* An item is put (BATCH-4): steps of the proof of ref/batch.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_ITEM_H
#define CHUNKPROOF_LOGIC_BATCH_ITEM_H

#include "proofs/logic/batch_spans.h"

/*@ ghost
  /@ requires ok: batch_ok(b) && 0 <= item < b.n_items && b.item[item].n_runs == 0;
     assigns \nothing;
     ensures nobody: no_prompt_has(b, item); @/
  void nobody_has(struct cp_batch b, int item) {
    /@ assert ok: \forall integer p; 0 <= p < b.n_prompts ==> prompt_ok(b, p); @/
    /@ assert there: \forall integer p, i; 0 <= p < b.n_prompts ==> 0 <= i < b.prompt[p].n_items ==>
         item_there(b, prompt_item(b, p, i)); @/
  }

  /@ requires spans: 1 <= n && spans_ok(spans, n) && 1 <= c;
     assigns \nothing;
     ensures some: 1 <= spans_runs(spans, n, c); @/
  void spans_runs_some(const struct cp_span *spans, int n, int c) {
    spans_runs_rise(spans, n, 1, c);
    /@ assert first: span_ok(spans[0]) && 1 <= cut_into(spans[0].n_tokens, c); @/
    /@ assert one: spans_runs(spans, 1, c) ==
         spans_runs(spans, 0, c) + cut_into(spans[0].n_tokens, c); @/
  }

  /@ requires items: 0 <= i < CP_MAX_ITEMS && 0 <= a.n_items <= CP_MAX_ITEMS &&
       room.n_items == a.n_items;
     requires left: items_left(a, room) && left_in_order(a, room);
     requires made: number_made(room, with, i);
     requires kept: \forall integer j; 0 <= j < CP_MAX_ITEMS ==> j != i ==> item_same(with, b, j);
     assigns \nothing;
     ensures left: others_left(a, b, i);
     ensures order: others_in_order(a, b, i); @/
  void put_in_order(struct cp_batch a, struct cp_batch room, struct cp_batch with,
                    struct cp_batch b, int i) {
    /@ assert same: \forall integer j; 0 <= j < CP_MAX_ITEMS ==> j != i ==>
         item_same(room, b, j); @/
    /@ assert all: items_all_there(room, CP_MAX_ITEMS) ==>
         \forall integer j; 0 <= j < CP_MAX_ITEMS ==> item_same(a, room, j); @/
    /@ assert gone: number_is_free(room, i) ==> \forall integer j; 0 <= j < a.n_items ==>
         has_gone(a, b, i, j) ==> item_left(a, room, j); @/
    /@ assert later: \forall integer k; 0 <= k < a.n_items ==> k != i ==> may_leave(b, k) ==>
         may_leave(room, k) && may_leave(a, k) && room.item[k].taken == a.item[k].taken; @/
    /@ assert free: number_is_free(room, i) ==> others_in_order(a, b, i); @/
    /@ assert only: items_all_there(room, CP_MAX_ITEMS) ==> \forall integer j;
         0 <= j < a.n_items ==> has_gone(a, b, i, j) ==> j == i; @/
  }
*/

#endif
