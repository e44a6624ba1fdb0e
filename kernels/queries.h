/* SPDX-License-Identifier: Apache-2.0 */
/* The queries and keys of a task, numbered; the tiled versions share this. The queries of a task
 * and K/V head are those of all query rows of the task and all heads of the group: they use the
 * same keys. */
#ifndef CHUNKPROOF_KERNELS_QUERIES_H
#define CHUNKPROOF_KERNELS_QUERIES_H

#include <type_traits>

#include "kernels/cache.h"
#include "kernels/merge.h"

/* The head dimensions that the tiled versions are compiled for: ONE(32) ONE(64) ... */
#ifndef CHUNKPROOF_HEAD_DIMS
#define CHUNKPROOF_HEAD_DIMS(ONE) ONE(32) ONE(64) ONE(80) ONE(96) ONE(128) ONE(256)
#endif

namespace chunkproof {

/* Calls each(std::integral_constant<int, D>) for D = head_dim, if it is one of these. */
template <class Each> void with_head_dim(int head_dim, const Each &each) {
#define ONE(D)                                                                                     \
    if (head_dim == D) {                                                                           \
        each(std::integral_constant<int, D>());                                                    \
    }
    CHUNKPROOF_HEAD_DIMS(ONE)
#undef ONE
}

/* Query x of a task and K/V head. */
struct Query {
    int row;  /* its query row; -1: there is no such query */
    int part; /* its row of partial results */
    int head;
    cp_keys_seen seen; /* which keys of the task it sees */
};

template <class A>
__device__ Query query_of(const Problem<A> &p, const cp_task &task, int kv_head, int x,
                          int n_keys) {
    int group = p.n_heads / p.n_kv_heads;
    int of_task = cp_row_of_query(x, group);
    if (of_task >= task.n_rows) {
        return {-1, 0, 0, {0, 0, 0}};
    }
    int part = task.first_part + of_task, row = p.lists.row[part];
    return {row, part, cp_head_of_query(x, group, kv_head),
            cp_keys_seen_from(&p.window, p.lists.position[row], task.position, n_keys)};
}

/* Which keys the loops over tiles of KEYS keys take for these queries: 0 .. kept - 1 and
 * begin .. end - 1, where begin is at the border of a tile. Without a window these are all keys;
 * with one, all that any of the queries sees. */
template <int KEYS, class A, int N>
__device__ cp_keys_seen keys_of_queries(const Problem<A> &p, const Query (&query)[N], int n_keys) {
    if (p.window.keys == 0) {
        return {0, 0, n_keys};
    }
    cp_keys_seen all = {0, n_keys, 0};
    for (int x = 0; x < N; x++) {
        cp_keys_seen seen = query[x].seen;
        bool in_window = seen.begin < seen.end;
        all.kept = seen.kept > all.kept ? seen.kept : all.kept;
        all.begin = in_window && seen.begin < all.begin ? seen.begin : all.begin;
        all.end = in_window && seen.end > all.end ? seen.end : all.end;
    }
    all.end = all.end > all.kept ? all.end : all.kept;
    all.begin = all.begin < all.end ? all.begin / KEYS * KEYS : all.end;
    return all;
}

/* The next tile of keys, if one begins at `key` or behind it: where it begins. */
__device__ inline int next_tile(const cp_keys_seen &all, int key) {
    return key < all.kept || key > all.begin ? key : all.begin;
}

/* How far the keys of the tile at `key` go. */
template <int KEYS> __device__ int end_of_tile(const cp_keys_seen &all, int key) {
    return key + KEYS <= all.begin ? all.kept : all.end;
}

/* MERGE-2: the partial results of queries none of which sees a key. */
template <class A, int N> __device__ void store_none(const Problem<A> &p, const Query (&query)[N]) {
    for (int x = threadIdx.x; x < N; x += blockDim.x) {
        if (query[x].row >= 0) {
            std::size_t at = part_at(p, query[x].part, query[x].head);
            p.part_m[at] = A::none();
            p.part_n[at] = A::zero();
            for (int i = 0; has_sums(p, A::zero()) && i < p.head_dim; i++) {
                p.part_o[at * p.head_dim + i] = A::zero();
            }
        }
    }
}

template <class A> __device__ int queries_of(const Problem<A> &p, const cp_task &task) {
    return task.n_rows * (p.n_heads / p.n_kv_heads);
}

/* Blocks (task, K/V head, tile of queries_of_tile queries). */
template <class A>
dim3 grid_of_tiles(const Problem<A> &p, const cp_schedule &schedule, int queries_of_tile) {
    int queries = schedule.most_rows * (p.n_heads / p.n_kv_heads);
    return dim3(schedule.n_tasks, p.n_kv_heads, cp_blocks_for(queries, queries_of_tile));
}

/* The first element of key j of a task. */
template <class A>
__device__ std::size_t key_begin(const Problem<A> &p, const cp_task &task, int kv_head, int j) {
    int chunk = p.lists.chunk[task.first_chunk + cp_chunk_of_key(j, p.chunk_size)];
    std::size_t slot = cp_slot_of_key(j, p.chunk_size);
    return slice_begin(p, chunk, kv_head) + slot * p.head_dim;
}

/* NUM-18: which scale it has. */
template <class A>
__device__ std::size_t scale_of_key(const Problem<A> &p, const cp_task &task, int kv_head, int j) {
    int chunk = p.lists.chunk[task.first_chunk + cp_chunk_of_key(j, p.chunk_size)];
    return scale_at(p, chunk, kv_head, cp_slot_of_key(j, p.chunk_size));
}

} // namespace chunkproof

#endif
