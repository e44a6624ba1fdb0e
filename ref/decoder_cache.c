/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of entries: their size, concatenation (DEC-7) and moving (DEC-9). */
#include <limits.h>
#include <stdint.h>

#include "chunkproof/layers.h"
#include "decoder_internal.h"

size_t cp_decoder_cache_numbers(const struct cp_decoder_shape *shape, int capacity) {
    if (capacity < 1) {
        return 0;
    }
    size_t entries = (size_t)shape->n_layers * (size_t)capacity; /* below 2^62: both are int */
    size_t width = (size_t)cp_entry_width(shape);
    //@ assert entries: entries == row_at(shape->n_layers, capacity);
    /*@ assert divided: row_at(PTRDIFF_MAX / sizeof(double) / width, width) <=
          PTRDIFF_MAX / sizeof(double) <
          row_at(PTRDIFF_MAX / sizeof(double) / width + 1, width); */
    //@ assert numbers: row_at(entries, width) == cache_numbers(*shape, capacity);
    return entries > PTRDIFF_MAX / sizeof(double) / width ? 0 : entries * width;
}

/*@
  requires valid: \valid_read(cache);
  assigns \nothing;
  ensures result: \result != 0 <==> has_entries(*cache, first, n);
*/
static int has_entries(const struct cp_decoder_cache *cache, int first, int n) {
    return cache->n >= 0 && cache->n <= cache->capacity && first >= 0 && n >= 0 &&
           first <= cache->n && n <= cache->n - first;
}

/*@
  requires valid: \valid(to + (0 .. n - 1)) && \valid_read(from + (0 .. n - 1));
  assigns to[0 .. n - 1];
*/
static void copy_numbers(double *to, const double *from, size_t n) {
    /*@ loop invariant i: 0 <= i <= n;
        loop assigns i, to[0 .. n - 1]; loop variant n - i; */
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
    }
}

int cp_decoder_cache_append(const struct cp_decoder_shape *shape, struct cp_decoder_cache *cache,
                            const struct cp_decoder_cache *from, int first, int n) {
    if (!has_entries(from, first, n) || !has_entries(cache, 0, 0)) {
        return CP_ERROR_ARGUMENT;
    }
    if (n > cache->capacity - cache->n) {
        return CP_ERROR_TOO_LONG;
    }
    //@ ghost entry_is_inside(shape, cache->capacity, 0, 0);
    //@ assert few: 0 <= row_at(n, entry_width(*shape)) <= cache_numbers(*shape, cache->capacity);
    size_t width = (size_t)cp_entry_width(shape);
    //@ assert product: n * width == row_at(n, width);
    size_t numbers = (size_t)n * width;
    //@ assert numbers: numbers == row_at(n, entry_width(*shape));
    /*@ loop invariant l: 0 <= l <= shape->n_layers;
        loop assigns l, *(CACHE_K(shape, cache)), *(CACHE_V(shape, cache));
        loop variant shape->n_layers - l; */
    for (int l = 0; l < shape->n_layers; l++) {
        size_t target = cp_entry_at(shape, cache, l, cache->n);
        size_t source = cp_entry_at(shape, from, l, first);
        copy_numbers(cache->k + target, from->k + source, numbers);
        copy_numbers(cache->v + target, from->v + source, numbers);
    }
    /*@ loop invariant i: 0 <= i <= n;
        loop assigns i, *(CACHE_POSITIONS(cache)); loop variant n - i; */
    for (int i = 0; i < n; i++) {
        cache->position[cache->n + i] = from->position[first + i];
    }
    cache->n += n;
    return CP_OK;
}

/*@
  requires valid: \valid_read(position + (first .. first + n - 1));
  requires entries: 0 <= first && 0 <= n && first + n <= INT_MAX;
  assigns \nothing;
  ensures all: \result != 0 <==> \forall integer i; first <= i < first + n ==>
    INT_MIN <= position[i] + t <= INT_MAX;
*/
static int can_move(const int *position, int first, int n, int t) {
    /*@ loop invariant e: first <= e <= first + n;
        loop invariant all: \forall integer i; first <= i < e ==>
          INT_MIN <= position[i] + t <= INT_MAX;
        loop assigns e; loop variant first + n - e; */
    for (int e = first; e < first + n; e++) {
        if (t > 0 ? position[e] > INT_MAX - t : position[e] < INT_MIN - t) {
            return 0;
        }
    }
    return 1;
}

/* R_t of all keys of entry e, whose cos and sin are given. */
/*@
  requires valid: \valid_read(shape) && \valid_read(cache);
  requires shape: heads_ok(*shape) && 1 <= shape->n_layers && 0 <= shape->n_pairs &&
    2 * shape->n_pairs <= shape->d_head && pairs_ok(shape->n_pairs, shape->pair_distance);
  requires countable: cache_countable(*shape, cache->capacity);
  requires keys: \valid(CACHE_K(shape, cache));
  requires entry: 0 <= e < cache->capacity;
  requires rotation: \valid_read(cosine + (0 .. shape->n_pairs - 1)) &&
    \valid_read(sine + (0 .. shape->n_pairs - 1));
  requires apart: \separated(shape, cache, CACHE_K(shape, cache));
  assigns *(CACHE_K(shape, cache));
*/
static void rotate_entry(const struct cp_decoder_shape *shape, const struct cp_decoder_cache *cache,
                         int e, const double *cosine, const double *sine) {
    /*@ loop invariant l: 0 <= l <= shape->n_layers;
        loop assigns l, *(CACHE_K(shape, cache)); loop variant shape->n_layers - l; */
    for (int l = 0; l < shape->n_layers; l++) {
        size_t at = cp_entry_at(shape, cache, l, e);
        //@ assert one: row_at(1, entry_width(*shape)) == entry_width(*shape);
        //@ assert entry: at + entry_width(*shape) <= cache_numbers(*shape, cache->capacity);
        /*@ loop invariant g: 0 <= g <= shape->n_kv_heads;
            loop assigns g, *(CACHE_K(shape, cache)); loop variant shape->n_kv_heads - g; */
        for (int g = 0; g < shape->n_kv_heads; g++) {
            /*@ assert head: 0 <= row_at(g, shape->d_head) &&
                  row_at(g, shape->d_head) + shape->d_head <= entry_width(*shape); */
            //@ assert place: g * shape->d_head == row_at(g, shape->d_head);
            size_t head = at + (size_t)g * (size_t)shape->d_head;
            /*@ assert inside: 0 <= head &&
                  head + 2 * shape->n_pairs <= cache_numbers(*shape, cache->capacity); */
            cp_rotate(cache->k + head, cosine, sine, shape->n_pairs, shape->pair_distance);
        }
    }
}

/*@
  requires valid: \valid_read(decoder) && \valid_read(cache);
  requires shape: shape_ok(decoder->shape) && decoder->shape.positions == CP_POSITIONS_ROTARY;
  requires frequency: \valid_read(decoder->frequency + (0 .. decoder->shape.n_pairs - 1)) &&
    \valid(workspace + (0 .. 2 * decoder->shape.n_pairs - 1));
  requires countable: cache_countable(decoder->shape, cache->capacity);
  requires keys: \valid(CACHE_K(&decoder->shape, cache));
  requires entries: 0 <= first && 0 <= n && first + n <= cache->capacity;
  requires apart: \separated(decoder, cache, decoder->frequency +
    (0 .. decoder->shape.n_pairs - 1), workspace + (0 .. 2 * decoder->shape.n_pairs - 1),
    CACHE_K(&decoder->shape, cache));
  assigns *(CACHE_K(&decoder->shape, cache)), workspace[0 .. 2 * decoder->shape.n_pairs - 1];
*/
static void rotate_entries(const struct cp_decoder *decoder, const struct cp_decoder_cache *cache,
                           int first, int n, int t, double *workspace) {
    const struct cp_decoder_shape *shape = &decoder->shape;
    double *cosine = workspace, *sine = workspace + shape->n_pairs;
    cp_rotation(cosine, sine, decoder->frequency, shape->n_pairs, t);
    /*@ loop invariant e: first <= e <= first + n;
        loop assigns e, *(CACHE_K(shape, cache)); loop variant first + n - e; */
    for (int e = first; e < first + n; e++) {
        rotate_entry(shape, cache, e, cosine, sine);
    }
}

int cp_decoder_cache_move(const struct cp_decoder *decoder, struct cp_decoder_cache *cache,
                          int first, int n, int t, double *workspace) {
    if (decoder->shape.positions == CP_POSITIONS_LEARNED) {
        return CP_ERROR_UNSUPPORTED;
    }
    if (!has_entries(cache, first, n) || !can_move(cache->position, first, n, t)) {
        return CP_ERROR_ARGUMENT;
    }
    if (decoder->shape.positions == CP_POSITIONS_ROTARY) {
        rotate_entries(decoder, cache, first, n, t, workspace);
    }
    /*@ loop invariant e: first <= e <= first + n;
        loop invariant rest: \forall integer i; e <= i < first + n ==>
          INT_MIN <= cache->position[i] + t <= INT_MAX &&
          cache->position[i] == \at(cache->position[i], Pre);
        loop invariant moved: \forall integer i; first <= i < e ==>
          cache->position[i] == \at(cache->position[i], Pre) + t;
        loop assigns e, *(CACHE_POSITIONS(cache)); loop variant first + n - e; */
    for (int e = first; e < first + n; e++) {
        cache->position[e] += t;
    }
    return CP_OK;
}
