/* SPDX-License-Identifier: Apache-2.0 */
/* Which number is where: the index arithmetic that all versions share, in plain C, so that it can be model-checked at
 * the real sizes (proofs/cbmc/index.c). Elements are counted in 64 bits: pools are larger than 2^31. */
#ifndef CHUNKPROOF_KERNELS_INDEX_H
#define CHUNKPROOF_KERNELS_INDEX_H

#include <stddef.h>

#ifdef __CUDACC__
#define CP_INDEX __host__ __device__ static inline
#else
#define CP_INDEX static inline
#endif

/* Query rows times heads, at most: what counts queries has 32 bits. */
#define CP_MOST_QUERIES (1 << 30)

/* A block has so many threads at most, and a grid so many blocks in its second and third direction. */
#define CP_MOST_BLOCK 1024
#define CP_MOST_GRID  65535

/* What places depend on. */
struct cp_dims {
    int n_heads;    /* h */
    int n_kv_heads; /* h_kv */
    int head_dim;   /* d */
    int chunk_size; /* c */
};

/* PREFILL-2, PREFILL-3: how many of its sequence's n_tokens keys a query row sees that has `later` rows behind it. */
CP_INDEX int cp_visible_keys(int n_tokens, int later) {
    int visible = n_tokens - later;
    return visible > 0 ? visible : 0;
}

/* PREFILL-4: and how many of at most n keys from `position` on. */
CP_INDEX int cp_keys_from(int visible, int position, int n) {
    int rest = visible - position, keys = rest > 0 ? rest : 0;
    return keys < n ? keys : n;
}

/* TPP-5: the K/V head of a query head. */
CP_INDEX int cp_kv_head_of(const struct cp_dims *p, int head) {
    return head / (p->n_heads / p->n_kv_heads);
}

/* POOL-7: the first element of slot 0 of a chunk and K/V head. */
CP_INDEX size_t cp_slice_begin(const struct cp_dims *p, int chunk, int kv_head) {
    size_t slice = (size_t)chunk * (size_t)p->n_kv_heads + (size_t)kv_head;
    return slice * (size_t)p->chunk_size * (size_t)p->head_dim;
}

/* A row of partial results, or of queries, and a head: number of its state; the first of its elements. */
CP_INDEX size_t cp_state_at(const struct cp_dims *p, int row, int head) {
    return (size_t)row * (size_t)p->n_heads + (size_t)head;
}

CP_INDEX size_t cp_row_begin(const struct cp_dims *p, int row, int head) {
    return cp_state_at(p, row, head) * (size_t)p->head_dim;
}

/* Key j of a task is in this chunk of its chunks, in this slot. */
CP_INDEX int cp_chunk_of_key(int j, int chunk_size) {
    return j / chunk_size;
}

CP_INDEX int cp_slot_of_key(int j, int chunk_size) {
    return j % chunk_size;
}

/* The queries of a task and K/V head are numbered: all heads of the group of its first row, of its second, ... */
CP_INDEX int cp_row_of_query(int x, int group) {
    return x / group;
}

CP_INDEX int cp_head_of_query(int x, int group, int kv_head) {
    return kv_head * group + x % group;
}

/* Blocks of a grid that take tiles of so many things in turn, and the tile behind one. */
CP_INDEX int cp_blocks_for(int things, int of_tile) {
    int tiles = things / of_tile + (things % of_tile != 0);
    return tiles < CP_MOST_GRID ? tiles : CP_MOST_GRID;
}

CP_INDEX int cp_next_tile(int first, int of_tile, int blocks) {
    return first + of_tile * blocks;
}

#endif
