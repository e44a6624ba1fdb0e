/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of a fast decoder: where their entries are, and copies of them. */
#include <stdint.h>
#include <string.h>

#include "opt/decoder_internal.h"

static int multiply(size_t *size, int n) {
    if (n < 1 || *size > PTRDIFF_MAX / (size_t)n) {
        return 0;
    }
    *size *= (size_t)n;
    return 1;
}

size_t cp_opt_cache_numbers(const struct cp_decoder_shape *shape, int chunk_size, int capacity) {
    size_t bytes = sizeof(float);
    if (chunk_size < 1 || chunk_size > CP_MAX_CHUNK_SIZE || capacity < 1 ||
        capacity % chunk_size != 0 || capacity / chunk_size > CP_MAX_DEPTH ||
        !multiply(&bytes, shape->n_layers) || !multiply(&bytes, capacity) ||
        !multiply(&bytes, shape->n_kv_heads) || !multiply(&bytes, shape->d_head)) {
        return 0;
    }
    return bytes / sizeof(float);
}

/* Chunks of 4, 2 heads: entry 5 of head 1 is in chunk 1, row (1 * 2 + 1) * 4 + 1 = 13. */
size_t cp_opt_entry_at(const struct cp_decoder_shape *shape, const struct cp_opt_cache *cache,
                       int l, int e, int g) {
    size_t c = (size_t)cache->chunk_size, n_chunks = (size_t)cache->capacity / c;
    size_t chunk = (size_t)l * n_chunks + (size_t)e / c;
    size_t row = (chunk * (size_t)shape->n_kv_heads + (size_t)g) * c + (size_t)e % c;
    return row * (size_t)shape->d_head;
}

static void copy_entry(const struct cp_decoder_shape *shape, struct cp_opt_cache *to, int t,
                       const struct cp_opt_cache *from, int e) {
    size_t bytes = (size_t)shape->d_head * sizeof(float);
    for (int l = 0; l < shape->n_layers; l++) {
        for (int g = 0; g < shape->n_kv_heads; g++) {
            size_t there = cp_opt_entry_at(shape, to, l, t, g);
            size_t here = cp_opt_entry_at(shape, from, l, e, g);
            memcpy(to->k + there, from->k + here, bytes);
            memcpy(to->v + there, from->v + here, bytes);
        }
    }
    to->position[t] = from->position[e];
}

int cp_opt_cache_append(const struct cp_decoder_shape *shape, struct cp_opt_cache *cache,
                        const struct cp_opt_cache *from, int first, int n) {
    if (first < 0 || n < 0 || first > from->n || n > from->n - first || cache->n < 0 ||
        cache->n > cache->capacity) {
        return CP_ERROR_ARGUMENT;
    }
    if (n > cache->capacity - cache->n) {
        return CP_ERROR_TOO_LONG;
    }
    for (int i = 0; i < n; i++) {
        copy_entry(shape, cache, cache->n + i, from, first + i);
    }
    cache->n += n;
    return CP_OK;
}
