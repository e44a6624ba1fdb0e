/* SPDX-License-Identifier: Apache-2.0 */
/* Where each number lies: the index arithmetic that all versions share. It is plain C, so that it
 * can be model-checked at the real sizes (proofs/cbmc/index.c). Elements are counted in 64 bits,
 * because pools have more than 2^31 elements. */
#ifndef CHUNKPROOF_KERNELS_INDEX_H
#define CHUNKPROOF_KERNELS_INDEX_H

#include <stddef.h>

#include "chunkproof/attention.h"

#ifdef __CUDACC__
#define CP_INDEX __host__ __device__ static inline
#else
#define CP_INDEX static inline
#endif

/* The most query rows times heads. Queries are counted in 32 bits. */
#define CP_MOST_QUERIES (1 << 30)

/* The most threads of a block, and blocks of a grid in its second and third direction. */
#define CP_MOST_BLOCK 1024
#define CP_MOST_GRID  65535

/* The sizes on which all places depend. */
struct cp_dims {
    int n_heads;    /* h */
    int n_kv_heads; /* h_kv */
    int head_dim;   /* d */
    int chunk_size; /* c */
};

/* PREFILL-2 to PREFILL-4: how many of the n keys from `position` >= 0 on are at positions up to p:
 * those that a query row at p sees. The formula of keys_seen_in() in proofs/logic/, which
 * ref/row_chunk.c is proved by: no header that CUDA reads may include ref/, and
 * tests/test_keys_seen.c compares the two. */
CP_INDEX int cp_keys_from(long long p, int position, int n) {
    if (p < position) {
        return 0;
    }
    long long before = p - position;
    return before < n ? (int)before + 1 : n;
}

/* WINDOW-2: keys 0 .. kept - 1 and begin .. end - 1 of a task; kept <= begin <= end. */
struct cp_keys_seen {
    int kept, begin, end;
};

/* Which of the n keys from `position` on a query row at p sees. */
CP_INDEX struct cp_keys_seen cp_keys_seen_from(const struct cp_window *window, int p, int position,
                                               int n) {
    struct cp_keys_seen seen = {0, 0, cp_keys_from((long long)p + window->ahead, position, n)};
    if (window->keys != 0) {
        seen.begin = cp_keys_from((long long)p - window->keys, position, seen.end);
        seen.kept = cp_keys_from((long long)window->kept - 1, position, seen.begin);
    }
    return seen;
}

CP_INDEX int cp_sees_none(const struct cp_keys_seen *seen) {
    return seen->kept == 0 && seen->begin == seen->end;
}

CP_INDEX int cp_sees(const struct cp_keys_seen *seen, int j) {
    return j < seen->end && (j >= seen->begin || j < seen->kept);
}

/* MASK-1: bit i of a mask, the lowest one of a byte first. */
CP_INDEX int cp_bit(const unsigned char *bits, size_t i) {
    return bits[i / 8] >> i % 8 & 1;
}

/* TPP-5: the K/V head of a query head. */
CP_INDEX int cp_kv_head_of(const struct cp_dims *p, int head) {
    return head / (p->n_heads / p->n_kv_heads);
}

/* POOL-7: the first slot of a chunk and K/V head, and its first element. */
CP_INDEX size_t cp_first_slot(const struct cp_dims *p, int chunk, int kv_head) {
    size_t slice = (size_t)chunk * (size_t)p->n_kv_heads + (size_t)kv_head;
    return slice * (size_t)p->chunk_size;
}

/* WIDTH-2: the first number of a slot in an array whose rows have `row` numbers. */
CP_INDEX size_t cp_slot_begin(const struct cp_dims *p, int chunk, int kv_head, int slot, int row) {
    return (cp_first_slot(p, chunk, kv_head) + (size_t)slot) * (size_t)row;
}

CP_INDEX size_t cp_slice_begin(const struct cp_dims *p, int chunk, int kv_head) {
    return cp_first_slot(p, chunk, kv_head) * (size_t)p->head_dim;
}

/* NUM-18: which scale a key has: 0, that of its K/V head, or that of its token and head. */
CP_INDEX size_t cp_scale_at(const struct cp_dims *p, int per, int chunk, int kv_head, int slot) {
    return per == CP_CACHE_SCALE_TOKEN  ? cp_first_slot(p, chunk, kv_head) + (size_t)slot
           : per == CP_CACHE_SCALE_HEAD ? (size_t)kv_head
                                        : 0;
}

/* For a row of partial results, or of queries, and a head: the number of its state; its first
 * element. */
CP_INDEX size_t cp_state_at(const struct cp_dims *p, int row, int head) {
    return (size_t)row * (size_t)p->n_heads + (size_t)head;
}

/* WIDTH-1: the same in an array of so many numbers for each state. */
CP_INDEX size_t cp_state_begin(const struct cp_dims *p, int row, int head, int numbers) {
    return cp_state_at(p, row, head) * (size_t)numbers;
}

CP_INDEX size_t cp_query_begin(const struct cp_dims *p, int row, int head) {
    return cp_state_at(p, row, head) * (size_t)p->head_dim;
}

/* Key j of a task: which chunk of the task it is in, and in which slot. */
CP_INDEX int cp_chunk_of_key(int j, int chunk_size) {
    return j / chunk_size;
}

CP_INDEX int cp_slot_of_key(int j, int chunk_size) {
    return j % chunk_size;
}

/* The queries of a task and K/V head are numbered: first all heads of the group of the task's first
 * row, then those of its second row, ... */
CP_INDEX int cp_row_of_query(int x, int group) {
    return x / group;
}

CP_INDEX int cp_head_of_query(int x, int group, int kv_head) {
    return kv_head * group + x % group;
}

/* The blocks of a grid take tiles of of_tile things in turn: how many blocks there are, and where a
 * block's next tile begins. */
CP_INDEX int cp_blocks_for(int things, int of_tile) {
    int tiles = things / of_tile + (things % of_tile != 0);
    return tiles < CP_MOST_GRID ? tiles : CP_MOST_GRID;
}

CP_INDEX int cp_next_tile(int first, int of_tile, int blocks) {
    return first + of_tile * blocks;
}

#endif
