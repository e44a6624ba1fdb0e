/* SPDX-License-Identifier: Apache-2.0 */
/* Places of entries, and numbers of entries. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_DECODER_ENTRIES_H
#define CHUNKPROOF_LOGIC_DECODER_ENTRIES_H

#include "chunkproof/decoder.h"

/*@
  // n numbers of entries, each below `limit`.
  predicate entries_below{L}(int *order, integer n, integer limit) =
    \forall integer i; 0 <= i < n ==> 0 <= order[i] < limit;
  // n numbers, none of them twice. When they are those of n entries, each entry is there.
  predicate entries_differ{L}(int *order, integer n) =
    \forall integer i, j; 0 <= i < j < n ==> order[i] != order[j];

  // LAYER-12: entry a does not come behind entry b; n entries, as they lie at L, are in this order
  // of the positions at P, from number `first` on, and none of those before it is behind these.
  predicate not_behind{L}(int *position, integer a, integer b) =
    position[a] < position[b] || (position[a] == position[b] && a <= b);
  predicate entries_sorted{L,P}(int *order, int *position, integer first, integer n) =
    \forall integer i, j; 0 <= i < j < n && first <= j ==>
      not_behind{P}(position, \at(order[i], L), \at(order[j], L));

  // Heap sort: i has a place above it, at (i - 1) / 2, and from `first` on no entry is behind the
  // one above it. None of the first n entries is behind the next one, if there is one.
  predicate entries_heap{L,P}(int *order, int *position, integer first, integer n) =
    \forall integer i; 0 < i < n && first <= (i - 1) / 2 ==>
      not_behind{P}(position, \at(order[i], L), \at(order[(i - 1) / 2], L));
  predicate entries_before{L,P}(int *order, int *position, integer n, integer n_entries) =
    n < n_entries ==> \forall integer i; 0 <= i < n ==>
      not_behind{P}(position, \at(order[i], L), \at(order[n], L));
  // All but the one at `at` differ, from each other and from `entry`.
  predicate others_differ{L}(int *order, integer n, integer at, integer entry) =
    (\forall integer i; 0 <= i < n && i != at ==> order[i] != entry) &&
    \forall integer i, j; 0 <= i < j < n && i != at && j != at ==> order[i] != order[j];
*/

/*@ ghost
  /@ requires valid: \valid_read(shape);
     requires heads: heads_ok(*shape);
     requires countable: cache_countable(*shape, capacity);
     requires place: 0 <= l < shape->n_layers && 0 <= e <= capacity;
     assigns \nothing;
     ensures row: 0 <= row_at(l, capacity) + e <= row_at(shape->n_layers, capacity);
     ensures place: 0 <= place_of_entry(*shape, capacity, l, e) <= cache_numbers(*shape, capacity);
     ensures inside: \forall integer n; 0 <= n <= capacity - e ==>
       place_of_entry(*shape, capacity, l, e) + row_at(n, entry_width(*shape)) <=
         cache_numbers(*shape, capacity); @/
  void entry_is_inside(const struct cp_decoder_shape *shape, int capacity, int l, int e) {
    /@ assert width: 1 <= entry_width(*shape); @/
    /@ assert layer: 0 <= row_at(l, capacity) &&
         row_at(l, capacity) + capacity <= row_at(shape->n_layers, capacity); @/
    /@ assert sum: \forall integer n; 0 <= n ==>
         row_at(row_at(l, capacity) + e, entry_width(*shape)) + row_at(n, entry_width(*shape)) ==
           row_at(row_at(l, capacity) + e + n, entry_width(*shape)); @/
    /@ assert rises: \forall integer n; 0 <= n <= capacity - e ==>
         row_at(row_at(l, capacity) + e + n, entry_width(*shape)) <=
           row_at(row_at(shape->n_layers, capacity), entry_width(*shape)); @/
  }
*/

#endif
