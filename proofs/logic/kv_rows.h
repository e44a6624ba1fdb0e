/* SPDX-License-Identifier: Apache-2.0 */
/* Rows, slices and bytes that follow one another, for ref/kv.c. Each ghost function is a lemma, its
 * contract the statement, its body the proof. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_KV_ROWS_H
#define CHUNKPROOF_LOGIC_KV_ROWS_H

#include "chunkproof/kv.h"

/*@
  // TREE-12: of heads f .. g - 1, `bytes` bytes in the slices of chunk `to` are what those of chunk
  // `from` were.
  predicate heads_copied{L1,L2}(char *array, struct cp_kv kv, integer from, integer to,
                                integer bytes, integer f, integer g) =
    \forall integer i, x; f <= i < g ==> slice_at(kv, to, i) <= x < slice_at(kv, to, i) + bytes ==>
      \at(array[x], L2) == \at(array[x - slice_at(kv, to, i) + slice_at(kv, from, i)], L1);

  // Bytes that stay: a range; those of the slices of heads 0 .. g - 1; all outside chunk `to`.
  predicate bytes_same{L1,L2}(char *array, integer begin, integer end) =
    \forall integer x; begin <= x < end ==> \at(array[x], L2) == \at(array[x], L1);
  predicate heads_same{L1,L2}(char *array, struct cp_kv kv, integer to, integer bytes, integer g) =
    \forall integer i, x; 0 <= i < g ==> slice_at(kv, to, i) <= x < slice_at(kv, to, i) + bytes ==>
      \at(array[x], L2) == \at(array[x], L1);
  predicate others_same{L1,L2}(char *array, struct cp_kv kv, integer to) =
    \forall integer x; 0 <= x < kv_bytes(kv) ==>
      !(slice_at(kv, to, 0) <= x < slice_at(kv, to + 1, 0)) ==>
      \at(array[x], L2) == \at(array[x], L1);
*/

/* Why no index of a row overflows (POOL-7): slices follow one another, and so do rows in a
 * slice. */
/*@ ghost
  /@ requires valid: \valid_read(kv);
     requires sizes: kv_sizes(*kv);
     requires place: kv_place(*kv, chunk, kv_head, slot);
     assigns \nothing;
     ensures slice: row_at(chunk, kv->n_kv_heads) + kv_head + 1 <= row_at(kv->capacity,
       kv->n_kv_heads);
     ensures row: row_at(row_at(chunk, kv->n_kv_heads) + kv_head, kv->chunk_size) +
       kv->chunk_size <=
       row_at(row_at(kv->capacity, kv->n_kv_heads), kv->chunk_size) <= 0x7FFFFFFFFFFFFFFF;
     ensures place: row_at(kv_rows(*kv, chunk, kv_head, slot), kv->head_dim) + kv->head_dim <=
       row_at(row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size), kv->head_dim) <=
       row_at(row_at(row_at(kv->capacity, kv->n_kv_heads), kv->chunk_size), kv->head_dim); @/
  void row_bounds(const struct cp_kv *kv, int chunk, int kv_head, int slot) {
    /@ assert next: row_at(chunk, kv->n_kv_heads) + kv_head + 1 <= row_at(chunk + 1,
      kv->n_kv_heads); @/
    /@ assert last: row_at(chunk + 1, kv->n_kv_heads) <= row_at(kv->capacity, kv->n_kv_heads); @/
    /@ assert next_slot: row_at(row_at(chunk, kv->n_kv_heads) + kv_head + 1, kv->chunk_size) <=
         row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size); @/
    /@ assert last_slot: row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size) <=
         row_at(row_at(kv->capacity, kv->n_kv_heads), kv->chunk_size); @/
    /@ assert countable: row_at(row_at(kv->capacity, kv->n_kv_heads), kv->chunk_size) <=
         0x7FFFFFFFFFFFFFFF; @/
    /@ assert slots: row_at(row_at(chunk, kv->n_kv_heads) + kv_head, kv->chunk_size) +
      kv->chunk_size <=
         row_at(row_at(chunk, kv->n_kv_heads) + kv_head + 1, kv->chunk_size); @/
    /@ assert place: row_at(kv_rows(*kv, chunk, kv_head, slot), kv->head_dim) + kv->head_dim <=
         row_at(row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size), kv->head_dim); @/
    /@ assert last_place:
         row_at(row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size), kv->head_dim) <=
         row_at(row_at(row_at(kv->capacity, kv->n_kv_heads), kv->chunk_size), kv->head_dim); @/
  }
*/

/* Where the first n rows of head g of two chunks are: each inside its chunk, so apart, and after
 * those of the heads before. */
/*@ ghost
  /@ requires valid: \valid_read(kv);
     requires countable: kv_countable(*kv);
     requires chunks: 0 <= from < kv->capacity && 0 <= to < kv->capacity && from != to;
     requires head: 0 <= g < kv->n_kv_heads && 0 <= n <= kv->chunk_size;
     assigns \nothing;
     ensures order: (from < to ==> slice_at(*kv, from + 1, 0) <= slice_at(*kv, to, 0)) &&
       (to < from ==> slice_at(*kv, to + 1, 0) <= slice_at(*kv, from, 0));
     ensures source: 0 <= slice_at(*kv, from, 0) <= slice_at(*kv, from, g) &&
       slice_at(*kv, from, g) + rows_bytes(*kv, n) <= slice_at(*kv, from + 1, 0) <= kv_bytes(*kv);
     ensures target: 0 <= slice_at(*kv, to, 0) <= slice_at(*kv, to, g) &&
       slice_at(*kv, to, g) + rows_bytes(*kv, n) <= slice_at(*kv, to + 1, 0) <= kv_bytes(*kv);
     ensures apart: slice_at(*kv, from, g) + rows_bytes(*kv, n) <= slice_at(*kv, to, 0) ||
       slice_at(*kv, to + 1, 0) <= slice_at(*kv, from, g);
     ensures before: \forall integer f; 0 <= f < g ==>
       slice_at(*kv, to, f) + rows_bytes(*kv, n) <= slice_at(*kv, to, g); @/
  void slice_bounds(const struct cp_kv *kv, int from, int to, int g, int n) {
    /@ assert last: slice_at(*kv, from + 1, 0) <= slice_at(*kv, kv->capacity, 0) &&
         slice_at(*kv, to + 1, 0) <= slice_at(*kv, kv->capacity, 0); @/
    /@ assert bytes: slice_at(*kv, kv->capacity, 0) == kv_bytes(*kv); @/
    /@ assert order: (from < to ==> slice_at(*kv, from + 1, 0) <= slice_at(*kv, to, 0)) &&
         (to < from ==> slice_at(*kv, to + 1, 0) <= slice_at(*kv, from, 0)); @/
    /@ assert source: slice_at(*kv, from, 0) <= slice_at(*kv, from, g) &&
         slice_at(*kv, from, g) + rows_bytes(*kv, n) <= slice_at(*kv, from + 1, 0); @/
  }
*/

#endif
