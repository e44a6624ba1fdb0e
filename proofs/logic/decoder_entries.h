/* SPDX-License-Identifier: Apache-2.0 */
/* Places of entries, and numbers of entries. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_DECODER_ENTRIES_H
#define CHUNKPROOF_LOGIC_DECODER_ENTRIES_H

#include "chunkproof/decoder.h"

/*@
  // n numbers of entries, each below `limit`.
  predicate entries_below{L}(int *order, integer n, integer limit) =
    \forall integer i; 0 <= i < n ==> 0 <= order[i] < limit;
*/

/*@ ghost
  /@ requires valid: \valid_read(shape);
     requires heads: heads_ok(*shape);
     requires countable: cache_countable(*shape, capacity);
     requires place: 0 <= l < shape->n_layers && 0 <= e <= capacity;
     assigns \nothing;
     ensures row: 0 <= row_at(l, capacity) + e <= row_at(shape->n_layers, capacity);
     ensures place: 0 <= entry_at(*shape, capacity, l, e) <= cache_numbers(*shape, capacity);
     ensures inside: \forall integer n; 0 <= n <= capacity - e ==>
       entry_at(*shape, capacity, l, e) + row_at(n, entry_width(*shape)) <=
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
