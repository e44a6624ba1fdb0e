/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH-4, RUNS-1: what is put, and where; how spans are cut into runs. Provers alone read this
 * file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_PUT_H
#define CHUNKPROOF_LOGIC_BATCH_PUT_H

#include "proofs/logic/batch_valid.h"

/*@
  // No two of the first n spans have a position in common; spans that can be an item.
  predicate spans_all_apart{L}(struct cp_span *a, integer n) =
    \forall integer i, j; 0 <= j < i < n ==> spans_apart(a[j], a[i]);
  predicate spans_to_put{L}(struct cp_span *a, integer n) =
    1 <= n && spans_ok(a, n) && spans_all_apart(a, n);

  // Each of the first n numbers is that of an item; number i is the lowest that is not.
  predicate items_all_there(struct cp_batch b, integer n) =
    \forall integer i; 0 <= i < n ==> b.item[i].n_runs != 0;
  predicate number_is_free(struct cp_batch b, integer i) =
    items_all_there(b, i) && (i < b.n_items ==> b.item[i].n_runs == 0);

  // RUNS-1: n tokens are cut into so many runs, or none.
  logic integer cuts(integer n, integer c) = n <= 0 ? 0 : cut_into(n, c);
  // Behind runs k .. n - 1 of owner o, the first of which begins at `from`.
  logic integer runs_end(struct cp_batch b, integer o, integer k, integer n, integer from) =
    n <= k ? from : owner_position(b, o, n - 1) + owner_tokens(b, o, n - 1);
  // Run j follows those from k on, and has what is left of the span, as far as a chunk has room.
  predicate run_is_cut(struct cp_batch b, integer o, integer k, integer j, struct cp_span span) =
    owner_position(b, o, j) == runs_end(b, o, k, j, span.position) &&
    owner_tokens(b, o, j) ==
      \min(b.chunk_size, span.position + span.n_tokens - owner_position(b, o, j));
  // Runs k .. n - 1 of owner o are those of the span, up to the position `end`; and of all of it.
  predicate span_cut_to(struct cp_batch b, integer o, integer k, integer n, struct cp_span span,
                        integer end) =
    (\forall integer j; k <= j < n ==> run_is_cut(b, o, k, j, span)) &&
    (\forall integer j; k <= j < n ==> span.position <= owner_position(b, o, j) &&
      owner_position(b, o, j) + owner_tokens(b, o, j) <= end) &&
    runs_end(b, o, k, n, span.position) == end;
  predicate span_is_cut(struct cp_batch b, integer o, integer k, integer n,
                        struct cp_span span) =
    span_cut_to(b, o, k, n, span, span.position + span.n_tokens);
  // The first runs of owner o are those of the first n spans, in their order.
  predicate spans_are_cut{L}(struct cp_batch b, integer o, struct cp_span *a, integer n) =
    \forall integer i; 0 <= i < n ==> span_is_cut(b, o, spans_runs(a, i, b.chunk_size),
      spans_runs(a, i + 1, b.chunk_size), a[i]);

  // There is a number for one item more, or one without users leaves; and few runs are enough.
  predicate number_exists(struct cp_batch b) = b.n_items < CP_MAX_ITEMS ||
    (\exists integer i; 0 <= i < b.n_items && (b.item[i].n_runs == 0 || may_leave(b, i)));
  predicate put_fits{L}(struct cp_batch b, struct cp_span *a, integer n) =
    spans_runs(a, n, b.chunk_size) <= CP_MAX_DEPTH && number_exists(b);
  predicate put_has_room{L}(struct cp_batch b, struct cp_span *a, integer n) =
    spans_runs(a, n, b.chunk_size) <= b.pool.n_free + room_of(b, b.n_items);
  // None leaves, but where all numbers are those of items the one that leaves first.
  predicate number_made(struct cp_batch a, struct cp_batch b, integer i) =
    a.pool.n_free <= b.pool.n_free && (number_is_free(a, i) ||
      (items_all_there(a, CP_MAX_ITEMS) && leaves_first(a, i))) &&
    (\forall integer j; 0 <= j < CP_MAX_ITEMS ==> j != i ==> item_same(a, b, j)) &&
    item_named_same(a, b, i);
  // The item has this name and no users, and is the one taken last. The clock is in its name.
  predicate item_is_new(struct cp_batch a, struct cp_batch b, integer i, integer name) =
    item_has_name(b, i, name) && b.item[i].n_users == 0 && b.item[i].taken == b.clock &&
    b.clock == a.clock + 1 && name == b.clock * CP_MAX_ITEMS + i;
  // BATCH-6: no item but i is other than it was, unless it has left; i was free, or has left.
  predicate others_left(struct cp_batch a, struct cp_batch b, integer i) =
    (\forall integer j; 0 <= j < CP_MAX_ITEMS ==> j != i ==>
      item_same(a, b, j) || (j < a.n_items && item_left(a, b, j))) &&
    (i < a.n_items ==> a.item[i].n_runs == 0 || may_leave(a, i));
  // They have left in the order in which they were taken: what may leave still was taken later.
  predicate has_gone(struct cp_batch a, struct cp_batch b, integer i, integer j) =
    0 < a.item[j].n_runs && (j == i || b.item[j].n_runs == 0);
  predicate others_in_order(struct cp_batch a, struct cp_batch b, integer i) =
    \forall integer j, k; 0 <= j < a.n_items ==> 0 <= k < a.n_items ==> k != i ==>
      has_gone(a, b, i, j) ==> may_leave(b, k) ==> a.item[j].taken <= a.item[k].taken;
  // BATCH-9: what a plan is made of.
  predicate plan_same(struct cp_batch a, struct cp_batch b) =
    b.stamp == a.stamp && b.n_prompts == a.n_prompts && b.chunk_size == a.chunk_size &&
    (\forall integer p; 0 <= p < CP_MAX_SEQUENCES ==> b.prompt[p] == a.prompt[p]) &&
    (\forall integer j, k; 0 <= j < a.n_items ==> 0 <= k < CP_MAX_DEPTH ==>
      0 < a.item[j].n_runs ==> 0 < a.item[j].n_users ==> run_same(a, j, b, j, k));
*/

#endif
