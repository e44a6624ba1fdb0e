/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that follow one another, for ref/kv.c. The ghost function is a lemma: its contract is the
 * statement, its body the proof. Only provers read this file. */
#ifndef CHUNKPROOF_LOGIC_KV_ROWS_H
#define CHUNKPROOF_LOGIC_KV_ROWS_H

#include "chunkproof/kv.h"

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

#endif
