/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/pool.h"

#include <stddef.h>

void cp_pool_init(struct cp_pool *pool, int capacity) {
    pool->capacity = capacity;
    pool->n_free = capacity;
    /* Downwards, because the last free entry is taken first (POOL-3). */
    /*@ loop invariant range: 0 <= i <= capacity;
        loop invariant perm: \forall integer j; 0 <= j < i ==> pool->perm[j] == capacity - 1 - j;
        loop invariant pos: \forall integer x; capacity - i <= x < capacity ==>
          pool->pos[x] == capacity - 1 - x;
        loop assigns i, pool->perm[0 .. CP_MAX_CHUNKS - 1], pool->pos[0 .. CP_MAX_CHUNKS - 1];
        loop variant capacity - i; */
    for (int i = 0; i < capacity; i++) {
        pool->perm[i] = capacity - 1 - i;
        pool->pos[capacity - 1 - i] = i;
    }
}

int cp_pool_take(struct cp_pool *pool) {
    if (pool->n_free == 0) {
        return -1;
    }
    pool->n_free--;
    return pool->perm[pool->n_free];
}

void cp_pool_release(struct cp_pool *pool, int chunk) {
    int place = pool->pos[chunk];
    int boundary = pool->n_free; /* the first used place */
    int other = pool->perm[boundary];

    pool->perm[place] = other;
    pool->pos[other] = place;
    pool->perm[boundary] = chunk;
    pool->pos[chunk] = boundary;
    pool->n_free++;
}

int cp_pool_is_used(const struct cp_pool *pool, int chunk) {
    return pool->pos[chunk] >= pool->n_free;
}

const char *cp_pool_check(const struct cp_pool *pool) {
    if (pool->capacity < 1 || pool->capacity > CP_MAX_CHUNKS || pool->n_free < 0 ||
        pool->n_free > pool->capacity) {
        return "POOL-1";
    }
    /* By counting, one direction implies the other; looking at both needs no counting. */
    /*@ loop invariant range: 0 <= i <= pool->capacity;
        loop invariant perm: \forall integer j; 0 <= j < i ==>
          0 <= pool->perm[j] < pool->capacity && pool->pos[pool->perm[j]] == j;
        loop invariant pos: \forall integer x; 0 <= x < i ==>
          0 <= pool->pos[x] < pool->capacity && pool->perm[pool->pos[x]] == x;
        loop assigns i; loop variant pool->capacity - i; */
    for (int i = 0; i < pool->capacity; i++) {
        int chunk = pool->perm[i];
        int place = pool->pos[i];
        if (chunk < 0 || chunk >= pool->capacity || pool->pos[chunk] != i) {
            return "POOL-2";
        }
        if (place < 0 || place >= pool->capacity || pool->perm[place] != i) {
            return "POOL-2";
        }
    }
    return NULL;
}

int cp_pool_is_valid(const struct cp_pool *pool) {
    return cp_pool_check(pool) == NULL;
}
