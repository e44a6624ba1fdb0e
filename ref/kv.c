/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/kv.h"

#include <stdint.h>
#include <string.h>

#include "chunkproof/status.h"

/* Bytes of K (or V), or 0 when they cannot be counted in a size_t. */
static size_t slab_bytes(const struct cp_kv *kv) {
    size_t bytes = cp_number_size(kv->type);
    const int factor[] = {kv->capacity, kv->n_kv_heads, kv->chunk_size, kv->head_dim};
    for (int i = 0; i < 4; i++) {
        if (bytes > SIZE_MAX / (size_t)factor[i]) {
            return 0;
        }
        bytes *= (size_t)factor[i];
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
    size_t slice = (size_t)chunk * (size_t)kv->n_kv_heads + (size_t)kv_head;
    /*@ assert slice: slice == row_at(chunk, kv->n_kv_heads) + kv_head; */
    /*@ assert next: slice + 1 <= row_at(chunk + 1, kv->n_kv_heads); */
    /*@ assert last: row_at(chunk + 1, kv->n_kv_heads) <= row_at(kv->capacity, kv->n_kv_heads); */
    /*@ assert next_slot: row_at(slice + 1, kv->chunk_size) <=
          row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size); */
    /*@ assert last_slot: row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size) <=
          row_at(row_at(kv->capacity, kv->n_kv_heads), kv->chunk_size); */
    /*@ assert countable: row_at(row_at(kv->capacity, kv->n_kv_heads), kv->chunk_size) <=
          0x7FFFFFFFFFFFFFFF; */
    /*@ assert slots: row_at(slice, kv->chunk_size) + kv->chunk_size <=
          row_at(slice + 1, kv->chunk_size); */
    size_t row = slice * (size_t)kv->chunk_size + (size_t)slot;
    /*@ assert row: row == row_at(slice, kv->chunk_size) + slot; */
    /*@ assert place: row_at(row, kv->head_dim) + kv->head_dim <=
          row_at(row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size), kv->head_dim); */
    /*@ assert last_place:
          row_at(row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size), kv->head_dim) <=
          row_at(row_at(row_at(kv->capacity, kv->n_kv_heads), kv->chunk_size), kv->head_dim); */
    return row * (size_t)kv->head_dim;
}

void cp_kv_write(const struct cp_kv *kv, int chunk, int kv_head, int slot, const double *key,
                 const double *value) {
    size_t row = cp_kv_row(kv, chunk, kv_head, slot);
    for (int x = 0; x < kv->head_dim; x++) {
        cp_number_store(kv->k, kv->type, row + (size_t)x, key[x]);
        cp_number_store(kv->v, kv->type, row + (size_t)x, value[x]);
    }
}

void cp_kv_copy(const struct cp_kv *kv, int from, int to, int n_tokens) {
    size_t size = cp_number_size(kv->type);
    size_t bytes = (size_t)n_tokens * (size_t)kv->head_dim * size;
    char *k = kv->k;
    char *v = kv->v;
    for (int g = 0; g < kv->n_kv_heads; g++) {
        size_t source = cp_kv_row(kv, from, g, 0) * size;
        size_t target = cp_kv_row(kv, to, g, 0) * size;
        memcpy(k + target, k + source, bytes);
        memcpy(v + target, v + source, bytes);
    }
}
