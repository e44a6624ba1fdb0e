/* SPDX-License-Identifier: Apache-2.0 */
/* Where K and V live (spec/pool.md, POOL-6, POOL-7): for every chunk of a pool a slice
 * [h_kv][c][d] of keys and one of values, so that the whole is [capacity][h_kv][c][d]. The tree says
 * which chunk and which slot; this is the memory behind it. */
#ifndef CHUNKPROOF_KV_H
#define CHUNKPROOF_KV_H

#include <stddef.h>

#include "chunkproof/memory.h"
#include "chunkproof/number.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cp_kv {
    void *k; /* [capacity][h_kv][c][d] of `type` */
    void *v; /* as k */
    int capacity;
    int n_kv_heads;
    int chunk_size;
    int head_dim;
    int type; /* CP_FP16, CP_FP32 or CP_FP64 */
};

/*@
  // The number of rows before slot `slot` of a chunk and a K/V head; of d numbers each.
  logic integer kv_rows(struct cp_kv kv, integer chunk, integer kv_head, integer slot) =
    row_at(row_at(chunk, kv.n_kv_heads) + kv_head, kv.chunk_size) + slot;

  // POOL-7: it is in the slice of its chunk.
  predicate kv_place(struct cp_kv kv, integer chunk, integer kv_head, integer slot) =
    0 <= chunk < kv.capacity && 0 <= kv_head < kv.n_kv_heads && 0 <= slot < kv.chunk_size;

  // What cp_kv_new() makes: the elements of K can be counted.
  predicate kv_sizes(struct cp_kv kv) =
    1 <= kv.capacity && 1 <= kv.n_kv_heads && 1 <= kv.chunk_size && 1 <= kv.head_dim &&
    row_at(row_at(row_at(kv.capacity, kv.n_kv_heads), kv.chunk_size), kv.head_dim) <=
      0x7FFFFFFFFFFFFFFF;
*/

/* Memory for `capacity` chunks, zeroed, fixed in size until cp_kv_free() returns all of it; mode is
 * CP_ON_DEMAND or CP_PREALLOCATED (memory.h). All numbers >= 1.
 * Fails with CP_ERROR_ARGUMENT, CP_ERROR_SHAPE (the size overflows), CP_ERROR_NO_MEMORY; *kv is then
 * empty and needs no cp_kv_free(). */
int cp_kv_new(struct cp_kv *kv, int capacity, int n_kv_heads, int chunk_size, int head_dim,
              int type, int mode);
void cp_kv_free(struct cp_kv *kv);

/* Indices are not checked, here and below: the caller keeps them in range.
 *
 * The index of element 0 of the row of d numbers for slot `slot` of a chunk and a K/V head. */
/*@
  requires valid: \valid_read(kv);
  requires sizes: kv_sizes(*kv);
  requires place: kv_place(*kv, chunk, kv_head, slot);
  assigns \nothing;
  ensures row: \result == row_at(kv_rows(*kv, chunk, kv_head, slot), kv->head_dim);
  ensures inside: \result + kv->head_dim <=
    row_at(row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size), kv->head_dim);
  ensures inside_all: \result + kv->head_dim <=
    row_at(row_at(row_at(kv->capacity, kv->n_kv_heads), kv->chunk_size), kv->head_dim);
*/
size_t cp_kv_row(const struct cp_kv *kv, int chunk, int kv_head, int slot);

/* Stores the key and the value of one token and one head: d numbers each, rounded once to `type`. */
void cp_kv_write(const struct cp_kv *kv, int chunk, int kv_head, int slot, const double *key,
                 const double *value);

/* Copies the first n_tokens keys and values of all heads from a chunk to another: what a fork asks
 * for with copy_from and copy_to (TREE-12). */
void cp_kv_copy(const struct cp_kv *kv, int from, int to, int n_tokens);

#ifdef __cplusplus
}
#endif

#endif
