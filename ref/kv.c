/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/kv.h"

#include <stdint.h>

#ifdef __FRAMAC__
#include "proofs/logic/kv_rows.h"
#endif

/* Bytes of K (or V), or 0 when they are too many for an array. */
/*@
  requires valid: \valid_read(kv);
  requires type: known_type(kv->type);
  requires sizes: 1 <= kv->capacity && 1 <= kv->n_kv_heads && 1 <= kv->chunk_size &&
    1 <= kv->head_dim;
  assigns \nothing;
  ensures bytes: \result != 0 ==> \result == kv_bytes(*kv);
  ensures too_many: \result == 0 <==> kv_bytes(*kv) > PTRDIFF_MAX;
*/
static size_t slab_bytes(const struct cp_kv *kv) {
    size_t bytes = cp_number_size(kv->type);
    const int factor[] = {kv->capacity, kv->n_kv_heads, kv->chunk_size, kv->head_dim};
    /*@ loop invariant i: 0 <= i <= 4;
        loop invariant positive: 1 <= bytes <= PTRDIFF_MAX;
        loop invariant first: i == 0 ==> bytes == type_size(kv->type);
        loop invariant second: i == 1 ==> bytes == row_at(type_size(kv->type), kv->capacity);
        loop invariant third: i == 2 ==>
          bytes == row_at(row_at(type_size(kv->type), kv->capacity), kv->n_kv_heads);
        loop invariant fourth: i == 3 ==> bytes ==
          row_at(row_at(row_at(type_size(kv->type), kv->capacity), kv->n_kv_heads), kv->chunk_size);
        loop invariant all: i == 4 ==> bytes == kv_bytes(*kv);
        loop assigns i, bytes; loop variant 4 - i; */
    for (int i = 0; i < 4; i++) {
        /*@ assert divided: row_at(PTRDIFF_MAX / factor[i], factor[i]) <= PTRDIFF_MAX <
              row_at(PTRDIFF_MAX / factor[i] + 1, factor[i]); */
        if (bytes > PTRDIFF_MAX / (size_t)factor[i]) {
            //@ assert this: row_at(bytes, factor[i]) > PTRDIFF_MAX;
            //@ assert total: row_at(bytes, factor[i]) <= kv_bytes(*kv);
            return 0;
        }
        //@ assert product: row_at(bytes, factor[i]) <= PTRDIFF_MAX;
        bytes *= (size_t)factor[i];
        //@ assert next: bytes == row_at(\at(bytes, LoopCurrent), factor[i]);
    }
    return bytes;
}

int cp_kv_new(struct cp_kv *kv, int capacity, int n_kv_heads, int chunk_size, int head_dim,
              int type, int mode) {
    *kv = (struct cp_kv){NULL, NULL, capacity, n_kv_heads, chunk_size, head_dim, type};
    if (capacity < 1 || n_kv_heads < 1 || chunk_size < 1 || head_dim < 1 ||
        cp_number_size(type) == 0 || (mode != CP_ON_DEMAND && mode != CP_PREALLOCATED)) {
        return CP_ERROR_ARGUMENT;
    }
    size_t bytes = slab_bytes(kv);
    if (bytes == 0) {
        return CP_ERROR_SHAPE;
    }
    kv->k = cp_memory_new(bytes, mode);
    kv->v = kv->k == NULL ? NULL : cp_memory_new(bytes, mode);
    if (kv->v == NULL) {
        cp_kv_free(kv);
        return CP_ERROR_NO_MEMORY;
    }
    return CP_OK;
}

void cp_kv_free(struct cp_kv *kv) {
    if (kv->k == NULL) {
        return;
    }
    size_t bytes = slab_bytes(kv);
    cp_memory_free(kv->k, bytes);
    cp_memory_free(kv->v, bytes);
    kv->k = NULL;
    kv->v = NULL;
}

size_t cp_kv_row(const struct cp_kv *kv, int chunk, int kv_head, int slot) {
    //@ ghost row_bounds(kv, chunk, kv_head, slot);
    size_t slice = (size_t)chunk * (size_t)kv->n_kv_heads + (size_t)kv_head;
    //@ assert slice: slice == row_at(chunk, kv->n_kv_heads) + kv_head;
    size_t row = slice * (size_t)kv->chunk_size + (size_t)slot;
    //@ assert row: row == row_at(slice, kv->chunk_size) + slot;
    return row * (size_t)kv->head_dim;
}

/* d numbers from element `at` on, in K or in V. */
/*@
  requires type: known_type(type);
  requires size: 0 <= d && at + d <= 0x7FFFFFFFFFFFFFFF;
  requires valid: \valid_read(number + (0 .. d - 1)) &&
    \valid((char *)array + (row_at(at, type_size(type)) .. row_at(at + d, type_size(type)) - 1));
  assigns ((char *)array)[row_at(at, type_size(type)) .. row_at(at + d, type_size(type)) - 1];
  ensures num_2: row_stored((char *)array, type, at, (double *)number, d);
*/
static void store_row(void *array, int type, size_t at, const double *number, int d) {
    /*@ loop invariant x: 0 <= x <= d;
        loop invariant num_2: \forall integer i; at <= i < at + x ==>
          stored((char *)array, type, i) == rounded(type, number[i - at]);
        loop assigns x,
          ((char *)array)[row_at(at, type_size(type)) .. row_at(at + d, type_size(type)) - 1];
        loop variant d - x; */
    for (int x = 0; x < d; x++) {
        size_t place = at + (size_t)x;
        cp_number_store(array, type, place, number[x]);
    }
}

void cp_kv_write(const struct cp_kv *kv, int chunk, int kv_head, int slot, const double *key,
                 const double *value) {
    size_t row = cp_kv_row(kv, chunk, kv_head, slot);
    //@ assert row: row == row_element(*kv, chunk, kv_head, slot);
    /*@ assert inside: 0 <= row_at(row, type_size(kv->type)) &&
          row_at(row + kv->head_dim, type_size(kv->type)) <= kv_bytes(*kv); */
    store_row(kv->k, kv->type, row, key, kv->head_dim);
    store_row(kv->v, kv->type, row, value, kv->head_dim);
}

/* The byte of K, and of V, with which the slice of a chunk and a K/V head begins. */
/*@
  requires valid: \valid_read(kv);
  requires countable: kv_countable(*kv);
  requires place: kv_place(*kv, chunk, kv_head, 0);
  assigns \nothing;
  ensures begin: \result == slice_at(*kv, chunk, kv_head);
  ensures inside: 0 <= \result + rows_bytes(*kv, kv->chunk_size) <= kv_bytes(*kv);
*/
static size_t slice_begin(const struct cp_kv *kv, int chunk, int kv_head) {
    /*@ assert in_chunk: slice_at(*kv, chunk, kv_head) + rows_bytes(*kv, kv->chunk_size) <=
          slice_at(*kv, chunk + 1, 0); */
    //@ assert last: slice_at(*kv, chunk + 1, 0) <= slice_at(*kv, kv->capacity, 0);
    size_t element = cp_kv_row(kv, chunk, kv_head, 0);
    /*@ assert element: row_at(element, type_size(kv->type)) ==
          slice_at(*kv, chunk, kv_head); */
    return element * cp_number_size(kv->type);
}

/* The bytes of n rows. */
/*@
  requires valid: \valid_read(kv);
  requires countable: kv_countable(*kv);
  requires n: 0 <= n <= kv->chunk_size;
  assigns \nothing;
  ensures bytes: \result == rows_bytes(*kv, n);
*/
static size_t bytes_of_rows(const struct cp_kv *kv, int n) {
    /*@ assert slice: slice_at(*kv, 0, 0) + rows_bytes(*kv, n) <=
          slice_at(*kv, 1, 0) <= slice_at(*kv, kv->capacity, 0); */
    /*@ assert few: rows_bytes(*kv, n) <= kv_bytes(*kv); */
    /*@ assert counted: 0 <= row_at(n, kv->head_dim) <= rows_bytes(*kv, n); */
    size_t elements = (size_t)n * (size_t)kv->head_dim;
    /*@ assert elements: elements == row_at(n, kv->head_dim); */
    return elements * cp_number_size(kv->type);
}

/*@
  requires valid: \valid(array + (target .. target + bytes - 1)) &&
    \valid_read(array + (source .. source + bytes - 1));
  requires apart: source + bytes <= target || target + bytes <= source;
  requires countable: source + bytes <= SIZE_MAX && target + bytes <= SIZE_MAX;
  assigns array[target .. target + bytes - 1];
  ensures copied: \forall integer x; target <= x < target + bytes ==>
    array[x] == \old(array[x - target + source]);
*/
static void copy_bytes(char *array, size_t target, size_t source, size_t bytes) {
    /*@ loop invariant i: 0 <= i <= bytes;
        loop invariant copied: \forall integer x; target <= x < target + i ==>
          array[x] == \at(array[x - target + source], Pre);
        loop assigns i, array[target .. target + bytes - 1]; loop variant bytes - i; */
    for (size_t i = 0; i < bytes; i++) {
        array[target + i] = array[source + i];
    }
}

/* Copies in K, or in V. */
/*@
  requires valid: \valid_read(kv);
  requires countable: kv_countable(*kv);
  requires array: \valid(array + (0 .. kv_bytes(*kv) - 1));
  requires chunks: 0 <= from < kv->capacity && 0 <= to < kv->capacity && from != to;
  requires tokens: 0 <= n_tokens <= kv->chunk_size;
  assigns array[slice_at(*kv, to, 0) .. slice_at(*kv, to + 1, 0) - 1];
  ensures tree_12: rows_copied{Pre,Post}(array, *kv, from, to, n_tokens);
*/
static void copy_rows(const struct cp_kv *kv, char *array, int from, int to, int n_tokens) {
    /*@ assert order: (from < to ==> slice_at(*kv, from + 1, 0) <= slice_at(*kv, to, 0)) &&
          (to < from ==> slice_at(*kv, to + 1, 0) <= slice_at(*kv, from, 0)); */
    size_t bytes = bytes_of_rows(kv, n_tokens);
    /*@
      loop invariant g: 0 <= g <= kv->n_kv_heads;
      loop invariant tree_12: \forall integer f, x; 0 <= f < g ==>
        slice_at(*kv, to, f) <= x < slice_at(*kv, to, f) + bytes ==>
        array[x] == \at(array[x - slice_at(*kv, to, f) + slice_at(*kv, from, f)], Pre);
      loop invariant others: \forall integer x; 0 <= x < kv_bytes(*kv) ==>
        !(slice_at(*kv, to, 0) <= x < slice_at(*kv, to + 1, 0)) ==>
        array[x] == \at(array[x], Pre);
      loop assigns g, array[slice_at(*kv, to, 0) .. slice_at(*kv, to + 1, 0) - 1];
      loop variant kv->n_kv_heads - g;
    */
    for (int g = 0; g < kv->n_kv_heads; g++) {
        size_t source = slice_begin(kv, from, g);
        size_t target = slice_begin(kv, to, g);
        /*@ assert apart: source + bytes <= slice_at(*kv, to, 0) ||
              slice_at(*kv, to + 1, 0) <= source; */
        /*@ assert inside: slice_at(*kv, to, 0) <= target &&
              target + bytes <= slice_at(*kv, to + 1, 0) &&
              0 <= source && source + bytes <= kv_bytes(*kv); */
        /*@ assert its: \forall integer x; source <= x < source + bytes ==>
              array[x] == \at(array[x], Pre); */
        /*@ assert before: \forall integer f; 0 <= f < g ==>
              slice_at(*kv, to, f) + bytes <= target; */
        copy_bytes(array, target, source, bytes);
        /*@ assert earlier: \forall integer f, x; 0 <= f < g ==>
              slice_at(*kv, to, f) <= x < slice_at(*kv, to, f) + bytes ==>
              array[x] == \at(array[x], LoopCurrent); */
        /*@ assert now: \forall integer f, x; g <= f < g + 1 ==>
              slice_at(*kv, to, f) <= x < slice_at(*kv, to, f) + bytes ==>
              array[x] == \at(array[x - slice_at(*kv, to, f) + slice_at(*kv, from, f)], Pre); */
    }
    /*@ assert all: \forall integer f, x; 0 <= f < kv->n_kv_heads ==>
          slice_at(*kv, to, f) <= x < slice_at(*kv, to, f) + rows_bytes(*kv, n_tokens) ==>
          array[x] == \at(array[x - slice_at(*kv, to, f) + slice_at(*kv, from, f)], Pre); */
}

void cp_kv_copy(const struct cp_kv *kv, int from, int to, int n_tokens) {
    /*@ assert inside: 0 <= slice_at(*kv, to, 0) && slice_at(*kv, to + 1, 0) <= kv_bytes(*kv) &&
          0 <= slice_at(*kv, from, 0) && slice_at(*kv, from + 1, 0) <= kv_bytes(*kv); */
    copy_rows(kv, kv->k, from, to, n_tokens);
    /*@ assert keys: rows_copied{Pre,Here}((char *)kv->k, *kv, from, to, n_tokens); */
    /*@ assert values: \forall integer x; 0 <= x < kv_bytes(*kv) ==>
          ((char *)kv->v)[x] == \at(((char *)kv->v)[x], Pre); */
    /*@ assert apart: \forall integer x; slice_at(*kv, to, 0) <= x < slice_at(*kv, to + 1, 0) ==>
          \separated((char *)kv->k + x, (char *)kv->v +
            (slice_at(*kv, to, 0) .. slice_at(*kv, to + 1, 0) - 1)); */
    copy_rows(kv, kv->v, from, to, n_tokens);
}
