/* SPDX-License-Identifier: Apache-2.0 */
/* An array whose bytes can be counted has countable rows and elements, for ref/attend.c: a ghost
 * lemma. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_ATTEND_SIZES_H
#define CHUNKPROOF_LOGIC_ATTEND_SIZES_H

#include "chunkproof/attend.h"

/*@ ghost
  /@ requires counts: 0 <= n && 1 <= x && 1 <= y && 1 <= z;
     assigns \nothing;
     ensures rows: \forall integer size; 1 <= size ==> array_countable(n, x, y, z, size) ==>
       row_at(row_at(n, x), y) <= 0x7FFFFFFFFFFFFFFF &&
       row_at(row_at(row_at(n, x), y), z) <= 0x7FFFFFFFFFFFFFFF; @/
  void fewer_elements(int n, int x, int y, int z) {
    /@ assert positive: 0 <= row_at(n, x) && 0 <= row_at(row_at(n, x), y) &&
         0 <= row_at(row_at(row_at(n, x), y), z); @/
    /@ assert rows: row_at(row_at(n, x), y) <= row_at(row_at(row_at(n, x), y), z); @/
    /@ assert bytes: \forall integer size; 1 <= size ==> row_at(row_at(row_at(n, x), y), z) <=
         row_at(row_at(row_at(row_at(n, x), y), z), size); @/
  }
*/

/* The elements of K and V, and of Q and out, can be counted. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(attention->plan);
     requires valid_ranges: attention->query_begin == \null ||
       \valid_read(attention->query_begin + (0 .. attention->plan->n_sequences));
     requires sizes: runs_sizes(*attention->plan);
     requires shape: attend_shape(*attention, *attention->plan);
     assigns \nothing;
     ensures keys: keys_countable(*attention, attention->plan->chunk_size,
       attention->plan->capacity);
     ensures rows: rows_countable(*attention,
       first_row(attention->query_begin, attention->plan->n_sequences)); @/
  void elements_are_countable(const struct cp_attention *attention) {
    int n = attention->plan->n_sequences;
    int rows = attention->query_begin ? attention->query_begin[n] : n;
    /@ assert rows: rows == first_row(attention->query_begin, n) && 0 <= rows; @/
    fewer_elements(attention->plan->capacity, attention->n_kv_heads, attention->plan->chunk_size,
                   attention->head_dim);
    fewer_elements(attention->plan->capacity, attention->n_kv_heads, attention->plan->chunk_size,
                   attention->v_row);
    fewer_elements(rows, attention->n_heads, attention->head_dim, 1);
    fewer_elements(rows, attention->n_heads, attention->value_dim, 1);
  }
*/

#endif
