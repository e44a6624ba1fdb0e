/* SPDX-License-Identifier: Apache-2.0 */
/* The queries and keys of a task, numbered; the tiled versions share this. The queries of a task
 * and K/V head are those of all query rows of the task and all heads of the group: they use the
 * same keys. */
#ifndef CHUNKPROOF_KERNELS_QUERIES_H
#define CHUNKPROOF_KERNELS_QUERIES_H

#include <type_traits>

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
    int visible; /* how many keys of the task it sees */
};

template <class A>
__device__ Query query_of(const Problem<A> &p, const cp_task &task, int kv_head, int x,
                          int n_keys) {
    int group = p.n_heads / p.n_kv_heads;
    int of_task = cp_row_of_query(x, group);
    if (of_task >= task.n_rows) {
        return {-1, 0, 0, 0};
    }
    int part = task.first_part + of_task, row = p.lists.row[part];
    return {row, part, cp_head_of_query(x, group, kv_head),
            cp_keys_from(p.lists.position[row], task.position, n_keys)};
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

} // namespace chunkproof

#endif
