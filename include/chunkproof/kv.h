/* SPDX-License-Identifier: Apache-2.0 */
/* Where K and V live (spec/pool.md, POOL-6, POOL-7). Every chunk of a pool has a slice [h_kv][c][d]
 * of keys and one of values, so K and V are arrays [capacity][h_kv][c][d]. The tree says which
 * chunk and which slot; this is their memory. */
#ifndef CHUNKPROOF_KV_H
#define CHUNKPROOF_KV_H

#include <stddef.h>

#include "chunkproof/memory.h"
#include "chunkproof/number.h"
#include "chunkproof/status.h"

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
    int type; /* of number.h: CP_FP16, CP_FP32, CP_FP64, CP_BF16, or one of 8 bits */
};

#ifdef __FRAMAC__
#include "proofs/logic/kv.h"
#endif

/* Zeroed memory for `capacity` chunks, whose size stays fixed until cp_kv_free() returns all of it;
 * mode is CP_ON_DEMAND or CP_PREALLOCATED (memory.h). All numbers >= 1. Fails with
 * CP_ERROR_ARGUMENT, CP_ERROR_SHAPE (the size overflows), CP_ERROR_NO_MEMORY; *kv is then empty and
 * needs no cp_kv_free(). */
/*@
  requires valid: \valid(kv);
  assigns *kv;
  ensures fields: kv_is_of(*kv, capacity, n_kv_heads, chunk_size, head_dim, type);
  ensures ok: \result == CP_OK ==> kv_ok(*kv);
  ensures empty: \result != CP_OK ==> kv->k == \null && kv->v == \null;
  ensures result: kv_refused(*kv, mode, \result);
*/
int cp_kv_new(struct cp_kv *kv, int capacity, int n_kv_heads, int chunk_size, int head_dim,
              int type, int mode);

/*@
  requires valid: \valid(kv);
  requires made: kv->k == \null || kv_countable(*kv);
  assigns kv->k, kv->v;
  ensures empty: kv->k == \null;
  ensures both: kv->v == (\old(kv->k) == \null ? \old(kv->v) : \null);
*/
void cp_kv_free(struct cp_kv *kv);

/* The caller keeps indices in range, here and below: they are not checked.
 *
 * Returns the index of element 0 of the row of d numbers for slot `slot` of a chunk and a K/V head,
 * ((chunk * h_kv + head) * c + slot) * d. With h_kv = 2, c = 4 and d = 8, slot 3 of head 1 of chunk
 * 2 has index ((2 * 2 + 1) * 4 + 3) * 8 = 184. */
/*@
  requires valid: \valid_read(kv);
  requires sizes: kv_sizes(*kv);
  requires place: kv_place(*kv, chunk, kv_head, slot);
  assigns \nothing;
  ensures pool_7_row: \result == row_at(kv_rows(*kv, chunk, kv_head, slot), kv->head_dim);
  ensures inside: \result + kv->head_dim <=
    row_at(row_at(row_at(chunk + 1, kv->n_kv_heads), kv->chunk_size), kv->head_dim);
  ensures inside_all: \result + kv->head_dim <=
    row_at(row_at(row_at(kv->capacity, kv->n_kv_heads), kv->chunk_size), kv->head_dim);
*/
size_t cp_kv_row(const struct cp_kv *kv, int chunk, int kv_head, int slot);

/* Stores the key and the value of one token and one head: d numbers each, rounded once to
 * `type`. */
/*@
  requires valid: \valid_read(kv) && \valid_read(key + (0 .. kv->head_dim - 1)) &&
    \valid_read(value + (0 .. kv->head_dim - 1));
  requires ok: kv_ok(*kv);
  requires place: kv_place(*kv, chunk, kv_head, slot);
  requires separated: KV_APART(kv);
  assigns KV_ROW(kv, k, chunk, kv_head, slot), KV_ROW(kv, v, chunk, kv_head, slot);
  ensures num_2_key: row_stored((char *)kv->k, kv->type,
    row_element(*kv, chunk, kv_head, slot), (double *)key, kv->head_dim);
  ensures num_2_value: row_stored((char *)kv->v, kv->type,
    row_element(*kv, chunk, kv_head, slot), (double *)value, kv->head_dim);
*/
void cp_kv_write(const struct cp_kv *kv, int chunk, int kv_head, int slot, const double *key,
                 const double *value);

/* Copies the first n_tokens keys and values of all heads from one chunk to another, as a fork
 * requests by copy_from and copy_to (TREE-12). */
/*@
  requires valid: \valid_read(kv);
  requires ok: kv_ok(*kv);
  requires chunks: 0 <= from < kv->capacity && 0 <= to < kv->capacity && from != to;
  requires tokens: 0 <= n_tokens <= kv->chunk_size;
  requires separated: KV_APART(kv);
  assigns KV_CHUNK(kv, k, to), KV_CHUNK(kv, v, to);
  ensures tree_12_keys: rows_copied{Pre,Post}((char *)kv->k, *kv, from, to, n_tokens);
  ensures tree_12_values: rows_copied{Pre,Post}((char *)kv->v, *kv, from, to, n_tokens);
*/
void cp_kv_copy(const struct cp_kv *kv, int from, int to, int n_tokens);

#ifdef __cplusplus
}
#endif

#endif
