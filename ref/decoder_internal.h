/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the decoder share: a run with its workspace, and where entries are. */
#ifndef CHUNKPROOF_REF_DECODER_INTERNAL_H
#define CHUNKPROOF_REF_DECODER_INTERNAL_H

#include "chunkproof/decoder.h"

/* A run: copies of its arguments, which nothing changes, and the parts of its workspace in their
 * order. */
struct run {
    struct cp_decoder decoder;
    struct cp_decoder_cache cache;
    struct cp_decoder_call call;
    double *x;      /* [n_new][d_model]: the states */
    double *y;      /* [n_new][d_model]: states, normed; then what is added to them */
    double *q;      /* [n_new][n_heads][d_head] */
    double *out;    /* [n_new][n_heads][d_head]: attention */
    double *up;     /* [n_new][d_hidden] */
    double *gate;   /* [n_new][d_hidden] */
    double *cosine; /* [n_new][n_pairs]: the rotation of each new token */
    double *sine;   /* [n_new][n_pairs] */
    double *o;      /* [d_head] */
    int *order;     /* [cache.n + n_new]: all entries, by position */
};

#ifdef __FRAMAC__
#include "proofs/logic/decoder_entries.h"
#include "proofs/logic/decoder_run.h"
#endif

/* Where the row begins that has this number; how many numbers so many rows have. */
/*@
  requires sizes: 0 <= row && 0 <= d;
  assigns \nothing;
  ensures place: \result == row_at(row, d);
  ensures int_sizes: 0 <= \result <= 0x3FFFFFFF00000001;
*/
static inline size_t cp_row_at(int row, int d) {
    //@ assert rises: 0 <= row_at(row, d) <= row_at(0x7FFFFFFF, d);
    //@ assert product: row * d == row_at(row, d);
    return (size_t)row * (size_t)d;
}

/* Numbers of a key, or a value, for all K/V heads. */
/*@
  requires valid: \valid_read(shape);
  requires heads: heads_ok(*shape);
  assigns \nothing;
  ensures width: \result == entry_width(*shape) && 1 <= \result;
*/
static inline int cp_entry_width(const struct cp_decoder_shape *shape) {
    //@ assert width: shape->n_kv_heads * shape->d_head == row_at(shape->n_kv_heads, shape->d_head);
    //@ assert counts: shape->n_kv_heads <= row_at(shape->n_kv_heads, shape->d_head);
    return shape->n_kv_heads * shape->d_head;
}

/* The index of element 0 of entry e in layer l; the entry behind the last one is one, too. */
/*@
  requires valid: \valid_read(shape) && \valid_read(cache);
  requires heads: heads_ok(*shape);
  requires countable: cache_countable(*shape, cache->capacity);
  requires place: 0 <= l < shape->n_layers && 0 <= e <= cache->capacity;
  assigns \nothing;
  ensures place: \result == place_of_entry(*shape, cache->capacity, l, e);
  ensures inside: \forall integer n; 0 <= n <= cache->capacity - e ==>
    0 <= \result + row_at(n, entry_width(*shape)) <= cache_numbers(*shape, cache->capacity);
*/
static inline size_t cp_entry_at(const struct cp_decoder_shape *shape,
                                 const struct cp_decoder_cache *cache, int l, int e) {
    //@ ghost entry_is_inside(shape, cache->capacity, l, e);
    size_t entry = (size_t)l * (size_t)cache->capacity + (size_t)e;
    //@ assert entry: entry == row_at(l, cache->capacity) + e;
    size_t width = (size_t)cp_entry_width(shape);
    //@ assert place: row_at(entry, width) == place_of_entry(*shape, cache->capacity, l, e);
    //@ assert product: entry * width == row_at(entry, width);
    return entry * width;
}

/* Writes the numbers 0 .. n - 1 so that position[order[i]] does not fall, and of entries with one
 * position the smaller number is first (LAYER-12). */
/*@
  requires size: 0 <= n;
  requires valid: \valid(order + (0 .. n - 1)) && \valid_read(position + (0 .. n - 1));
  requires apart: \separated(order + (0 .. n - 1), position + (0 .. n - 1));
  assigns order[0 .. n - 1];
  ensures entries: entries_below(order, n, n) && entries_differ(order, n);
  ensures layer_12: entries_sorted{Here, Old}(order, position, 0, n);
*/
void cp_order_by_position(int *order, const int *position, int n);

/* Attention of new token i in layer l: run->q to run->out, for all heads (LAYER-7). */
/*@
  requires valid: \valid_read(run);
  requires ready: run_ready(*run) && entries_ordered(*run);
  requires place: 0 <= l < run->decoder.shape.n_layers && 0 <= i < run->call.n_new;
  assigns NUMBERS_OUT(run), NUMBERS_O(run);
*/
void cp_attend_token(const struct run *run, int l, int i);

#endif
