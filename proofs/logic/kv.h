/* SPDX-License-Identifier: Apache-2.0 */
/* Where the rows, slices and bytes of K and V are (spec/pool.md, POOL-7). Provers alone read this
 * file. */
#ifndef CHUNKPROOF_LOGIC_KV_H
#define CHUNKPROOF_LOGIC_KV_H

#include "chunkproof/kv.h"

/* For contracts, of K or V as `array`: the bytes of the row of a slot, and of all slices of a
 * chunk; and that K, V and the structure do not overlap. */
/* clang-format off */
#define KV_ROW(kv, array, chunk, kv_head, slot) \
    ((char *)kv->array)[row_bytes_at(*kv, chunk, kv_head, slot) .. \
                        row_bytes_at(*kv, chunk, kv_head, slot) + rows_bytes(*kv, 1) - 1]
#define KV_CHUNK(kv, array, chunk) \
    ((char *)kv->array)[slice_at(*kv, chunk, 0) .. slice_at(*kv, chunk + 1, 0) - 1]
#define KV_APART(kv) \separated(kv, (char *)kv->k + (0 .. kv_bytes(*kv) - 1), \
    (char *)kv->v + (0 .. kv_bytes(*kv) - 1))
/* clang-format on */

/*@
  // The number of rows before slot `slot` of a chunk and a K/V head; of d numbers each.
  logic integer kv_rows(struct cp_kv kv, integer chunk, integer kv_head, integer slot) =
    row_at(row_at(chunk, kv.n_kv_heads) + kv_head, kv.chunk_size) + slot;

  // POOL-7: it is in the slice of its chunk.
  predicate kv_place(struct cp_kv kv, integer chunk, integer kv_head, integer slot) =
    0 <= chunk < kv.capacity && 0 <= kv_head < kv.n_kv_heads && 0 <= slot < kv.chunk_size;

  // The bytes of K, and of V.
  logic integer kv_bytes(struct cp_kv kv) =
    row_at(row_at(row_at(row_at(type_size(kv.type), kv.capacity), kv.n_kv_heads),
      kv.chunk_size), kv.head_dim);

  // What cp_kv_new() makes: the elements of K can be counted.
  predicate kv_sizes(struct cp_kv kv) =
    1 <= kv.capacity && 1 <= kv.n_kv_heads && 1 <= kv.chunk_size && 1 <= kv.head_dim &&
    row_at(row_at(row_at(kv.capacity, kv.n_kv_heads), kv.chunk_size), kv.head_dim) <=
      0x7FFFFFFFFFFFFFFF;

  // The bytes too, ...
  predicate kv_countable(struct cp_kv kv) =
    kv_sizes(kv) && known_type(kv.type) && kv_bytes(kv) <= 0x7FFFFFFFFFFFFFFF;

  // ... and they are there.
  predicate kv_ok{L}(struct cp_kv kv) =
    kv_countable(kv) && \valid((char *)kv.k + (0 .. kv_bytes(kv) - 1)) &&
    \valid((char *)kv.v + (0 .. kv_bytes(kv) - 1));

  // The structure says what cp_kv_new() was asked for.
  predicate kv_is_of(struct cp_kv kv, integer capacity, integer n_kv_heads, integer chunk_size,
                     integer head_dim, integer type) =
    kv.capacity == capacity && kv.n_kv_heads == n_kv_heads && kv.chunk_size == chunk_size &&
    kv.head_dim == head_dim && kv.type == type;

  // Arguments of cp_kv_new() that are in range.
  predicate kv_arguments(struct cp_kv kv, integer mode) =
    1 <= kv.capacity && 1 <= kv.n_kv_heads && 1 <= kv.chunk_size && 1 <= kv.head_dim &&
    known_type(kv.type) && (mode == CP_ON_DEMAND || mode == CP_PREALLOCATED);

  // Its errors: arguments out of range, more bytes than can be counted, no memory of so many bytes.
  predicate kv_refused(struct cp_kv kv, integer mode, integer error) =
    (error == CP_ERROR_ARGUMENT <==> !kv_arguments(kv, mode)) &&
    (error == CP_ERROR_SHAPE <==> kv_arguments(kv, mode) && kv_bytes(kv) > 0x7FFFFFFFFFFFFFFF) &&
    (error == CP_ERROR_NO_MEMORY ==> memory_refused(kv_bytes(kv))) &&
    (error == CP_OK || error == CP_ERROR_ARGUMENT || error == CP_ERROR_SHAPE ||
      error == CP_ERROR_NO_MEMORY);
*/

/*@
  // How many bytes n rows have, and where the slice of a chunk and a K/V head begins in the bytes
  // of K.
  axiomatic Slices {
    logic integer rows_bytes(struct cp_kv kv, integer n);
    axiom rows_bytes_is: \forall struct cp_kv kv, integer n;
      rows_bytes(kv, n) == row_at(row_at(n, kv.head_dim), type_size(kv.type));
    logic integer slice_at(struct cp_kv kv, integer chunk, integer kv_head);
    axiom slice_at_is: \forall struct cp_kv kv, integer chunk, kv_head;
      slice_at(kv, chunk, kv_head) ==
        rows_bytes(kv, row_at(row_at(chunk, kv.n_kv_heads) + kv_head, kv.chunk_size));

    // The element, and the byte, of K and V with which the row of a slot begins.
    logic integer row_element(struct cp_kv kv, integer chunk, integer kv_head, integer slot);
    axiom row_element_is: \forall struct cp_kv kv, integer chunk, kv_head, slot;
      row_element(kv, chunk, kv_head, slot) ==
        row_at(kv_rows(kv, chunk, kv_head, slot), kv.head_dim);
    logic integer row_bytes_at(struct cp_kv kv, integer chunk, integer kv_head, integer slot);
    axiom row_bytes_at_is: \forall struct cp_kv kv, integer chunk, kv_head, slot;
      row_bytes_at(kv, chunk, kv_head, slot) ==
        row_at(row_element(kv, chunk, kv_head, slot), type_size(kv.type));

    lemma rows_bytes_rise: \forall struct cp_kv kv, integer m, n; kv_sizes(kv) ==>
      0 <= m <= n ==> 0 <= rows_bytes(kv, m) <= rows_bytes(kv, n);
    lemma rows_bytes_sum: \forall struct cp_kv kv, integer m, n, s; kv_sizes(kv) ==>
      0 <= m ==> 0 <= n ==> m + n <= s ==>
      rows_bytes(kv, m) + rows_bytes(kv, n) <= rows_bytes(kv, s);

    // Slices follow one another, in a chunk and from chunk to chunk.
    lemma chunks_ordered: \forall struct cp_kv kv, integer x, y; kv_sizes(kv) ==> 0 <= x <= y ==>
      0 <= slice_at(kv, x, 0) <= slice_at(kv, y, 0);
    lemma slices_ordered: \forall struct cp_kv kv, integer chunk, f, g, n; kv_sizes(kv) ==>
      0 <= chunk ==> 0 <= f < g ==> 0 <= n <= kv.chunk_size ==>
      slice_at(kv, chunk, f) + rows_bytes(kv, n) <= slice_at(kv, chunk, g);
    lemma slice_in_chunk: \forall struct cp_kv kv, integer chunk, g, n; kv_sizes(kv) ==>
      0 <= chunk ==> 0 <= g < kv.n_kv_heads ==> 0 <= n <= kv.chunk_size ==>
      slice_at(kv, chunk, 0) <= slice_at(kv, chunk, g) &&
      slice_at(kv, chunk, g) + rows_bytes(kv, n) <= slice_at(kv, chunk + 1, 0);
    lemma slices_of_all: \forall struct cp_kv kv; slice_at(kv, kv.capacity, 0) == kv_bytes(kv);
  }
*/

/*@
  // NUM-2: d numbers are stored in the row that begins at element `at`. They stay while the bytes
  // do.
  predicate row_stored{L}(char *array, integer type, integer at, double *number, integer d) =
    \forall integer i; at <= i < at + d ==> stored(array, type, i) == rounded(type, number[i - at]);

  // TREE-12: the first n rows of all heads are what those of chunk `from` were.
  predicate rows_copied{L1,L2}(char *array, struct cp_kv kv, integer from, integer to, integer n) =
    \forall integer g, x; 0 <= g < kv.n_kv_heads ==>
      slice_at(kv, to, g) <= x < slice_at(kv, to, g) + rows_bytes(kv, n) ==>
      \at(array[x], L2) == \at(array[x - slice_at(kv, to, g) + slice_at(kv, from, g)], L1);

  axiomatic RowsKept {
    lemma row_stored_kept{L1,L2}: \forall char *array, integer type, at, double *number, integer d;
      known_type(type) ==> row_stored{L1}(array, type, at, number, d) ==>
      (\forall integer x; row_at(at, type_size(type)) <= x < row_at(at + d, type_size(type)) ==>
        \at(array[x], L1) == \at(array[x], L2)) ==>
      (\forall integer i; 0 <= i < d ==> \at(number[i], L1) == \at(number[i], L2)) ==>
      row_stored{L2}(array, type, at, number, d);
    lemma rows_copied_kept{L1,L2,L3}: \forall char *array, struct cp_kv kv, integer from, to, n;
      kv_sizes(kv) ==> 0 <= to < kv.capacity ==> 0 <= n <= kv.chunk_size ==>
      rows_copied{L1,L2}(array, kv, from, to, n) ==>
      (\forall integer x; slice_at(kv, to, 0) <= x < slice_at(kv, to + 1, 0) ==>
        \at(array[x], L2) == \at(array[x], L3)) ==>
      rows_copied{L1,L3}(array, kv, from, to, n);
    lemma rows_copied_from{L1,L2,L3}: \forall char *array, struct cp_kv kv, integer from, to, n;
      kv_sizes(kv) ==> 0 <= from < kv.capacity ==> 0 <= n <= kv.chunk_size ==>
      rows_copied{L2,L3}(array, kv, from, to, n) ==>
      (\forall integer x; slice_at(kv, from, 0) <= x < slice_at(kv, from + 1, 0) ==>
        \at(array[x], L1) == \at(array[x], L2)) ==>
      rows_copied{L1,L3}(array, kv, from, to, n);
  }
*/

#endif
