/* SPDX-License-Identifier: Apache-2.0 */
/* Version 2: a block has a tile of queries of one task and K/V head. It goes through the task's
 * keys, one tile at a time in shared memory, so that each key is read from global memory once for
 * all queries of the tile. The queries are those of all heads of a group, which share keys just as
 * the sequences of a list do. The state is merged in place from tile to tile; the block writes one
 * partial result for each task. In a loop over the tiles of keys:
 *
 *     global memory    K, V of the task     [tile 0][tile 1][tile 2]...
 *                                              |  1. load_keys()
 *     shared memory    k, v [KEYS][D]          v
 *     a warp a query   weight = e^(q k - m)    2. weigh(), a key for each lane
 *     all threads      o = o rescale + weight v
 *
 * Head dimensions are multiples of 8. Any chunk size: a tile of keys may begin and end inside a
 * chunk. */
#ifndef CHUNKPROOF_KERNELS_V2_H
#define CHUNKPROOF_KERNELS_V2_H

#include "kernels/queries.h"
#include "kernels/scores.h"

namespace chunkproof {
namespace v2 {

const int QUERIES = 16;  /* queries of a tile */
const int KEYS = 32;     /* keys of a tile: one for each lane of a warp */
const int THREADS = 128; /* threads of a block */
const int WARPS = THREADS / 32;
const int PIECE = 8; /* 16-bit elements that are moved together */

/* Eight elements at once. */
template <class T> __device__ void move_piece(T *to, const T *from) {
    *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(from);
}

template <class T> __device__ void clear_piece(T *to) {
    *reinterpret_cast<uint4 *>(to) = make_uint4(0, 0, 0, 0);
}

/* Shared memory of a block. Rows of K are PIECE elements longer than necessary, so that lanes that
 * read the same element of neighbouring rows use different banks. */
template <class A, int D> struct Tiles : ScalesOfTile<A, KEYS> {
    alignas(16) typename A::Key q[QUERIES][D];
    alignas(16) typename A::Key k[KEYS][D + PIECE];
    alignas(16) typename A::Value v[KEYS][D];
    typename A::Weight weight[QUERIES][KEYS];
    typename A::Weight rescale[QUERIES];
    Query query[QUERIES];
};

template <class A, int D>
__device__ void list_queries(const Problem<A> &p, const cp_task &task, int kv_head, int first,
                             int n_keys, Tiles<A, D> &tiles) {
    int t = threadIdx.x;
    if (t < QUERIES) {
        Query query = query_of(p, task, kv_head, first + t, n_keys);
        tiles.query[t] = query;
    }
    __syncthreads();
}

template <class A, int D> __device__ void load_queries(const Problem<A> &p, Tiles<A, D> &tiles) {
    for (int e = threadIdx.x; e < QUERIES * (D / PIECE); e += THREADS) {
        int x = e / (D / PIECE), i = e % (D / PIECE) * PIECE;
        Query query = tiles.query[x];
        if (query.row < 0) {
            clear_piece(&tiles.q[x][i]);
        } else {
            move_piece(&tiles.q[x][i], &p.q[row_begin(p, query.row, query.head) + i]);
        }
    }
}

/* A piece of a key of 8 bits, or of its value. */
template <class A, class T>
__device__ void convert_piece(T *to, const std::uint8_t *from, int type) {
    uint2 bytes = *reinterpret_cast<const uint2 *>(from);
    uint4 elements = unpacked<A>(type, bytes.x, bytes.y, 1);
    *reinterpret_cast<uint4 *>(to) = elements;
}

/* The scales of the keys of load_keys(), by a warp; 1 where there is no key. */
template <class A, int D>
__device__ void load_scales(const Problem<A> &p, const cp_task &task, int kv_head, int first_key,
                            int n_keys, Tiles<A, D> &tiles) {
    int j = threadIdx.x;
    if (j < KEYS) {
        bool there = first_key + j < n_keys;
        std::size_t at = there ? scale_of_key(p, task, kv_head, first_key + j) : 0;
        typename A::CacheScale one = 1;
        tiles.k_scale[j] = there && p.k_scales != nullptr ? p.k_scales[at] : one;
        tiles.v_scale[j] = there && p.v_scales != nullptr ? p.v_scales[at] : one;
    }
}

/* Loads keys first_key .. first_key + KEYS-1 of the task, and zeros from key n_keys on: slots after
 * the last key of a chunk are never read. */
template <class A, int D>
__device__ void load_keys(const Problem<A> &p, const cp_task &task, int kv_head, int first_key,
                          int n_keys, Tiles<A, D> &tiles) {
    for (int e = threadIdx.x; e < KEYS * (D / PIECE); e += THREADS) {
        int j = e / (D / PIECE), i = e % (D / PIECE) * PIECE;
        if (first_key + j < n_keys) {
            std::size_t at = key_begin(p, task, kv_head, first_key + j) + i;
            if constexpr (A::OF_8_BITS) {
                convert_piece<A>(&tiles.k[j][i], &p.k[at], p.k_type);
                convert_piece<A>(&tiles.v[j][i], &p.v[at], p.v_type);
            } else {
                move_piece(&tiles.k[j][i], &p.k[at]);
                move_piece(&tiles.v[j][i], &p.v[at]);
            }
        } else {
            clear_piece(&tiles.k[j][i]);
            clear_piece(&tiles.v[j][i]);
        }
    }
    if constexpr (A::OF_8_BITS) {
        load_scales(p, task, kv_head, first_key, n_keys, tiles);
    }
}

/* The maximum, and the sum, over the lanes of a warp; each lane gets it. */
template <class A> __device__ typename A::Score warp_maximum(typename A::Score x) {
    for (int other = 16; other > 0; other /= 2) {
        x = A::maximum(x, __shfl_xor_sync(0xFFFFFFFFu, x, other));
    }
    return x;
}

template <class A> __device__ typename A::Weight warp_sum(typename A::Weight x) {
    for (int other = 16; other > 0; other /= 2) {
        x = A::add(x, __shfl_xor_sync(0xFFFFFFFFu, x, other));
    }
    return x;
}

/* SOFTMAX-1 for a query of the tile and this lane's key. */
template <class A, int D>
__device__ typename A::Score score(const Problem<A> &p, const Tiles<A, D> &tiles, int x, int j) {
    typename A::Score sum = A::no_product();
    for (int i = 0; i < D; i++) {
        sum = A::add_product(sum, tiles.q[x][i], tiles.k[j][i]);
    }
    sum = A::scaled(sum, p.scale);
    if constexpr (A::OF_8_BITS) {
        sum = A::scaled(sum, tiles.k_scale[j]);
    }
    return sum;
}

/* MERGE-3, MERGE-4 for a query of the tile: computes the weights relative to the new maximum, and
 * the factor that rescales everything before to it. A warp does this, with one key for each
 * lane. */
template <class A, int D, bool CHANGED>
__device__ void weigh(const Problem<A> &p, const cp_task &task, Tiles<A, D> &tiles, int x,
                      int first_key, typename A::Score &m, typename A::Weight &n) {
    int j = threadIdx.x % 32;
    bool seen = cp_sees(&tiles.query[x].seen, first_key + j) != 0;
    typename A::Score s = score(p, tiles, x, j);
    if (CHANGED) {
        int row = tiles.query[x].row, head = tiles.query[x].head;
        s = changed(p, s, bias_of(p, task, row, head), first_key + j);
        s = with_table(p, s, table_of(p, task, row, head), first_key + j);
    }
    typename A::Score m_new = A::maximum(m, warp_maximum<A>(seen ? s : A::none()));
    typename A::Weight weight = seen ? A::exponential(s, m_new) : A::zero();
    typename A::Weight rescale = A::exponential(m, m_new);
    n = A::add(A::multiply(rescale, n), warp_sum<A>(weight));
    m = m_new;
    tiles.weight[x][j] = weight;
    if constexpr (A::OF_8_BITS) { /* n has it without */
        tiles.weight[x][j] = A::multiply(weight, tiles.v_scale[j]);
    }
    if (j == 0) {
        tiles.rescale[x] = rescale;
    }
}

/* Block (task, K/V head, any): the partial results of the task's queries, tile by tile. */
template <class A, int D, bool CHANGED>
__global__ void __launch_bounds__(THREADS) attend_tasks(Problem<A> p) {
    const int ROWS = QUERIES / WARPS;       /* queries of a warp */
    const int SUMS = QUERIES * D / THREADS; /* elements of o of a thread */
    typedef Tiles<A, D> Shared;
    SIMT_SHARED(Shared, tiles, );
    cp_task task = p.lists.task[blockIdx.x];
    int kv_head = blockIdx.y, t = threadIdx.x, warp = t / 32;
    int n_keys = p.lists.n_keys[blockIdx.x];
    int n_queries = queries_of(p, task);
    for (int first = blockIdx.z * QUERIES; first < n_queries;
         first = cp_next_tile(first, QUERIES, gridDim.z)) {
        typename A::Score m[ROWS];
        typename A::Weight n[ROWS], o[SUMS];
        for (int r = 0; r < ROWS; r++) {
            m[r] = A::none();
            n[r] = A::zero();
        }
        for (int r = 0; r < SUMS; r++) {
            o[r] = A::zero();
        }
        list_queries(p, task, kv_head, first, n_keys, tiles);
        cp_keys_seen all = keys_of_queries<KEYS>(p, tiles.query, n_keys);
        if (cp_sees_none(&all)) {
            store_none(p, tiles.query);
            __syncthreads();
            continue;
        }
        load_queries(p, tiles);
        for (int first_key = next_tile(all, 0); first_key < all.end;
             first_key = next_tile(all, first_key + KEYS)) {
            load_keys(p, task, kv_head, first_key, end_of_tile<KEYS>(all, first_key), tiles);
            __syncthreads();
            for (int r = 0; r < ROWS; r++) {
                weigh<A, D, CHANGED>(p, task, tiles, warp * ROWS + r, first_key, m[r], n[r]);
            }
            __syncthreads();
            for (int r = 0; r < SUMS; r++) {
                int x = (t + r * THREADS) / D, i = (t + r * THREADS) % D;
                o[r] = A::multiply(tiles.rescale[x], o[r]);
                for (int j = 0; j < KEYS; j++) {
                    o[r] = A::add_weighted(o[r], tiles.weight[x][j], tiles.v[j][i]);
                }
            }
            __syncthreads();
        }
        for (int r = 0; r < SUMS; r++) {
            int x = (t + r * THREADS) / D, i = (t + r * THREADS) % D;
            Query query = tiles.query[x];
            if (query.row >= 0) {
                p.part_o[part_at(p, query.part, query.head) * D + i] = o[r];
            }
        }
        for (int r = 0; r < ROWS; r++) {
            Query query = tiles.query[warp * ROWS + r];
            if (query.row >= 0 && t % 32 == 0) {
                std::size_t at = part_at(p, query.part, query.head);
                p.part_m[at] = m[r];
                p.part_n[at] = n[r];
            }
        }
        __syncthreads();
    }
}

/* The two phases, for a head dimension that has tiles; launch is that of merge(). */
template <class A, class Launch>
void attend(const Launch &launch, const Problem<A> &p, const cp_schedule &schedule) {
    with_head_dim(p.head_dim, [&](auto d) {
        const auto kernel = changes_scores(p) ? attend_tasks<A, d.value, true>
                                              : attend_tasks<A, d.value, A::OF_8_BITS>;
        launch(grid_of_tiles(p, schedule, QUERIES), dim3(THREADS), 0, kernel, p);
    });
    merge(launch, p, schedule);
}

} // namespace v2
} // namespace chunkproof

#endif
