/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from the contracts of the pool alone: the proofs here see no body of ref/pool.c. The
 * lemmas stand here and not in logic/pool.h, where they would enter every other proof. */
#include "chunkproof/pool.h"

/*@
  // POOL-2: no chunk is listed twice, in free or in used places.
  lemma listed_once: \forall struct cp_pool p, integer i, j; pool_ok(p) ==>
    0 <= i < p.capacity ==> 0 <= j < p.capacity ==> p.perm[i] == p.perm[j] ==> i == j;

  // POOL-2: a place below n_free holds a free chunk, any other a used one; none is both.
  lemma partition: \forall struct cp_pool p, integer i; pool_ok(p) ==>
    0 <= i < p.capacity ==> (pool_used(p, p.perm[i]) <==> p.n_free <= i);

  // POOL-3: the first `fresh` places hold the chunks that were never used. These are the highest
  // ones, and the lowest of them is in the last of these places.
  predicate pool_fresh(struct cp_pool p, integer fresh) =
    0 <= fresh <= p.n_free &&
    (\forall integer i; 0 <= i < fresh ==> p.perm[i] == p.capacity - 1 - i);
*/

/* POOL-3: a new pool has no chunk that was ever used. */
/*@
  requires valid: \valid(pool);
  requires size: 1 <= capacity <= CP_MAX_CHUNKS;
  assigns *pool;
  ensures fresh: pool_fresh(*pool, capacity);
*/
void pool_fresh_init(struct cp_pool *pool, int capacity) {
    cp_pool_init(pool, capacity);
}

/* POOL-3: take hands out a chunk that was used before while one is free; else the lowest chunk that
 * was never used. So the chunks ever used are 0 .. peak-1. */
/*@
  requires valid: \valid(pool);
  requires ok: pool_ok(*pool);
  requires fresh: pool_fresh(*pool, fresh);
  requires free: pool->n_free > 0;
  assigns pool->n_free;
  ensures fresh: pool_fresh(*pool, \min(fresh, pool->n_free));
  ensures again: \old(pool->n_free) > fresh ==> \result < pool->capacity - fresh;
  ensures lowest: \old(pool->n_free) == fresh ==> \result == pool->capacity - fresh;
*/
int pool_fresh_take(struct cp_pool *pool, int fresh) {
    int chunk = cp_pool_take(pool);
    /*@ assert place: chunk >= pool->capacity - fresh ==>
          pool->perm[pool->capacity - 1 - chunk] == chunk; */
    return chunk;
}

/* POOL-3: a release leaves the chunks that were never used where they are. */
/*@
  requires valid: \valid(pool);
  requires ok: pool_ok(*pool);
  requires fresh: pool_fresh(*pool, fresh);
  requires used: pool_used(*pool, chunk);
  assigns *pool;
  ensures fresh: pool_fresh(*pool, fresh);
*/
void pool_fresh_release(struct cp_pool *pool, int chunk, int fresh) {
    cp_pool_release(pool, chunk);
}

/* POOL-3, POOL-4: the chunk released last is taken next, and then the pool has the same free chunks
 * as before. */
/*@
  requires valid: \valid(pool);
  requires ok: pool_ok(*pool);
  requires used: pool_used(*pool, chunk);
  assigns *pool;
  ensures same: \result == chunk;
  ensures n_free: pool->n_free == \old(pool->n_free);
  ensures used: \forall integer x; pool_used(*pool, x) <==> pool_used(\old(*pool), x);
*/
int pool_release_then_take(struct cp_pool *pool, int chunk) {
    cp_pool_release(pool, chunk);
    return cp_pool_take(pool);
}

/* POOL-3: two chunks taken one after the other are not the same. */
/*@
  requires valid: \valid(pool);
  requires ok: pool_ok(*pool);
  requires free: pool->n_free >= 2;
  assigns pool->n_free;
  ensures differ: \result == 1;
*/
int pool_take_twice(struct cp_pool *pool) {
    int first = cp_pool_take(pool);
    int second = cp_pool_take(pool);
    return first != second;
}

/* POOL-5: after as many takes as there were free chunks, one more fails and changes nothing. */
/*@
  requires valid: \valid(pool);
  requires ok: pool_ok(*pool);
  assigns pool->n_free;
  ensures fails: \result == -1;
  ensures none_free: pool->n_free == 0;
  ensures all_used: \forall integer x; 0 <= x < pool->capacity ==> pool_used(*pool, x);
*/
int pool_take_all(struct cp_pool *pool) {
    /*@ loop invariant ok: pool_ok(*pool);
        loop assigns pool->n_free; loop variant pool->n_free; */
    while (pool->n_free > 0) {
        cp_pool_take(pool);
    }
    return cp_pool_take(pool);
}
