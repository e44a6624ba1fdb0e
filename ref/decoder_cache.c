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
    return entries > PTRDIFF_MAX / sizeof(double) / width ? 0 : entries * width;
}

static int has_entries(const struct cp_decoder_cache *cache, int first, int n) {
    return cache->n >= 0 && cache->n <= cache->capacity && first >= 0 && n >= 0 &&
           first <= cache->n && n <= cache->n - first;
}

static void copy_numbers(double *to, const double *from, size_t n) {
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
    size_t numbers = (size_t)n * (size_t)cp_entry_width(shape);
    for (int l = 0; l < shape->n_layers; l++) {
        size_t target = cp_entry_at(shape, cache, l, cache->n);
        size_t source = cp_entry_at(shape, from, l, first);
        copy_numbers(cache->k + target, from->k + source, numbers);
        copy_numbers(cache->v + target, from->v + source, numbers);
    }
    for (int i = 0; i < n; i++) {
        cache->position[cache->n + i] = from->position[first + i];
    }
    cache->n += n;
    return CP_OK;
}

static int can_move(const int *position, int n, int t) {
    for (int i = 0; i < n; i++) {
        if (t > 0 ? position[i] > INT_MAX - t : position[i] < INT_MIN - t) {
            return 0;
        }
    }
    return 1;
}

/* R_t of all keys of entry e, whose cos and sin are given. */
static void rotate_entry(const struct cp_decoder_shape *shape, const struct cp_decoder_cache *cache,
                         int e, const double *cosine, const double *sine) {
    for (int l = 0; l < shape->n_layers; l++) {
        double *key = cache->k + cp_entry_at(shape, cache, l, e);
        for (int g = 0; g < shape->n_kv_heads; g++) {
            cp_rotate(key + (size_t)g * (size_t)shape->d_head, cosine, sine, shape->n_pairs,
                      shape->pair_distance);
        }
    }
}

static void rotate_entries(const struct cp_decoder *decoder, const struct cp_decoder_cache *cache,
                           int first, int n, int t, double *workspace) {
    const struct cp_decoder_shape *shape = &decoder->shape;
    double *cosine = workspace, *sine = workspace + shape->n_pairs;
    cp_rotation(cosine, sine, decoder->frequency, shape->n_pairs, t);
    for (int e = first; e < first + n; e++) {
        rotate_entry(shape, cache, e, cosine, sine);
    }
}

int cp_decoder_cache_move(const struct cp_decoder *decoder, struct cp_decoder_cache *cache,
                          int first, int n, int t, double *workspace) {
    if (decoder->shape.positions == CP_POSITIONS_LEARNED) {
        return CP_ERROR_UNSUPPORTED;
    }
    if (!has_entries(cache, first, n) || !can_move(cache->position + first, n, t)) {
        return CP_ERROR_ARGUMENT;
    }
    if (decoder->shape.positions == CP_POSITIONS_ROTARY) {
        rotate_entries(decoder, cache, first, n, t, workspace);
    }
    for (int e = first; e < first + n; e++) {
        cache->position[e] += t;
    }
    return CP_OK;
}
