/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of chunks (spec/pool.md): which of `capacity` fixed-size chunks are in use.
 *
 * A sparse set: perm[] lists all chunks, the free ones first, and pos[] is its inverse. The pool
 * hands out the last free entry. So it reuses the chunk released last before a chunk that was never
 * used, and fresh chunks come in index order: memory beyond the peak is never touched. */
#ifndef CHUNKPROOF_POOL_H
#define CHUNKPROOF_POOL_H

#include "chunkproof/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cp_pool {
    int capacity; /* chunks in this pool, 1 .. CP_MAX_CHUNKS */
    int n_free;   /* perm[0 .. n_free) are free, perm[n_free .. capacity) are used */
    int perm[CP_MAX_CHUNKS];
    int pos[CP_MAX_CHUNKS];
};

#ifdef __FRAMAC__
#include "proofs/logic/pool.h"
#endif

/* Empties the pool: `capacity` chunks, all free. */
/*@
  requires valid: \valid(pool);
  requires size: 1 <= capacity <= CP_MAX_CHUNKS;
  assigns *pool;
  ensures ok: pool_ok(*pool);
  ensures capacity: pool->capacity == capacity;
  ensures all_free: pool->n_free == capacity;
  ensures order: \forall integer i; 0 <= i < capacity ==> pool->perm[i] == capacity - 1 - i;
*/
void cp_pool_init(struct cp_pool *pool, int capacity);

/* Marks a free chunk used and returns it (POOL-3), or returns -1 and changes nothing when every
 * chunk is used (POOL-5). */
/*@
  requires valid: \valid(pool);
  requires ok: pool_ok(*pool);
  assigns pool->n_free;
  ensures ok: pool_ok(*pool);
  ensures result: -1 <= \result < pool->capacity;
  ensures pool_5_fails: \old(pool->n_free) == 0 ==> \result == -1;
  ensures pool_5_unchanged: \old(pool->n_free) == 0 ==> *pool == \old(*pool);
  ensures pool_3_taken: \old(pool->n_free) > 0 ==> pool_taken(\old(*pool), *pool, \result);
*/
int cp_pool_take(struct cp_pool *pool);

/* Returns a used chunk to the free ones; it is the next to be taken (POOL-4). */
/*@
  requires valid: \valid(pool);
  requires ok: pool_ok(*pool);
  requires used: pool_used(*pool, chunk);
  assigns pool->n_free, pool->perm[0 .. CP_MAX_CHUNKS - 1], pool->pos[0 .. CP_MAX_CHUNKS - 1];
  ensures ok: pool_ok(*pool);
  ensures pool_4_released: pool_released(\old(*pool), *pool, chunk);
  ensures pool_4_next: pool->perm[pool->n_free - 1] == chunk;
*/
void cp_pool_release(struct cp_pool *pool, int chunk);

/* 1 when the chunk is in use, 0 when it is free. */
/*@
  requires valid: \valid_read(pool);
  requires ok: pool_ok(*pool);
  requires chunk: 0 <= chunk < pool->capacity;
  assigns \nothing;
  ensures result: \result == 1 || \result == 0;
  ensures used: \result == 1 <==> pool_used(*pool, chunk);
*/
int cp_pool_is_used(const struct cp_pool *pool, int chunk);

/* Returns NULL when the pool is valid, else the number of the first clause that it breaks ("POOL-1"
 * or "POOL-2"). Takes any content. Linear in the capacity. */
/*@
  requires valid: \valid_read(pool);
  assigns \result \from *pool;
  ensures valid: \result == \null <==> pool_ok(*pool);
*/
const char *cp_pool_check(const struct cp_pool *pool);

/* 1 when cp_pool_check() finds nothing, else 0. */
/*@
  requires valid: \valid_read(pool);
  assigns \nothing;
  ensures valid: \result != 0 <==> pool_ok(*pool);
*/
int cp_pool_is_valid(const struct cp_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
