/* SPDX-License-Identifier: Apache-2.0 */
/* Version 3 for values of another width than keys, which may lie in their keys (spec/widths.md). A
 * wide o does not fit into the registers of a warp, so that its columns are divided, too. A block
 * has QUERIES = 16 MT queries and MT x ACROSS warps. The ACROSS warps of 16 queries divide the keys
 * of a tile among them for scores, and the columns of o for sums. Weights go from one to the other
 * through shared memory. With MT = 2, d_v = 512:
 *
 *                       scores:  keys 0..15   keys 16..31     sums:  o 0..255   o 256..511
 *     queries 0..15              warp 0       warp 2                 warp 0     warp 2
 *     queries 16..31             warp 1       warp 3                 warp 1     warp 3
 *
 * Where values are in keys, a tile of keys is that of values: each number is copied once. All else
 * is as in v3.h. Scores are changed where the call says so, by one kernel for all calls. Widths are
 * multiples of 32. */
#ifndef CHUNKPROOF_KERNELS_V3_WIDTHS_H
#define CHUNKPROOF_KERNELS_V3_WIDTHS_H

#include "kernels/v3.h"
#include "kernels/widths.h"

namespace chunkproof {
namespace v3 {
namespace widths {

const int KEYS = 32; /* keys of a tile: with 64, two tiles of 576 numbers fit into few devices */

/* How many warps divide the columns of o: each has at least 16. */
constexpr int across(int value_dim, int mt) {
    return mt == 1 && value_dim >= 64 ? 4 : 2;
}

/* In shared memory, two tiles. Rows are one piece longer than necessary, as in v3.h. */
template <class A, class W, bool = W::IN_KEYS> struct Keys {
    alignas(16) typename A::Key k[2][KEYS][W::D + PIECE];
    alignas(16) typename A::Value v[2][KEYS][W::D_V + PIECE];

    __device__ const void *value(int buffer, int j, int, int i) const {
        return &v[buffer][j][i];
    }
};

/* Values from number v_begin of their keys on. */
template <class A, class W> struct Keys<A, W, true> {
    alignas(16) typename A::Key k[2][KEYS][W::D + PIECE];

    __device__ const void *value(int buffer, int j, int v_begin, int i) const {
        return &k[buffer][j][v_begin + i];
    }
};

template <class A, class W, int MT> struct Tiles {
    static const int QUERIES = 16 * MT;
    static const int ACROSS = across(W::D_V, MT);
    static const int THREADS = 32 * MT * ACROSS;
    alignas(16) typename A::Key q[QUERIES][W::D + PIECE];
    alignas(16) unsigned weight[QUERIES][(KEYS + PIECE) / 2]; /* pairs of rounded weights */
    Keys<A, W> keys;
    typename A::Score m[ACROSS][QUERIES];  /* of the keys of each warp */
    typename A::Weight n[ACROSS][QUERIES]; /* ... of all tiles, at the end */
    Query query[QUERIES];
};

/* Where a warp and a lane are: the warp's first query and its part of keys and columns; the lane's
 * row g of a product of tiles and its pair of columns t (v3.h). */
struct Place {
    int x, part, lane, g, t;
};

template <int MT> __device__ Place place() {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return {warp % MT * 16, warp / MT, lane, lane / 4, lane % 4};
}

template <class A, class W, int MT>
__device__ void list_queries(const WideProblem<A> &p, const cp_task &task, int kv_head, int first,
                             int n_keys, Tiles<A, W, MT> &tiles) {
    int thread = threadIdx.x;
    if (thread < tiles.QUERIES) {
        Query query = query_of(p, task, kv_head, first + thread, n_keys);
        tiles.query[thread] = query;
    }
    __syncthreads();
}

template <class A, class W, int MT>
__device__ void load_queries(const WideProblem<A> &p, Tiles<A, W, MT> &tiles) {
    const int PIECES = W::D / PIECE;
    for (int e = threadIdx.x; e < tiles.QUERIES * PIECES; e += tiles.THREADS) {
        int x = e / PIECES, i = e % PIECES * PIECE;
        Query query = tiles.query[x];
        const typename A::Key *from =
            query.row < 0 ? p.q : &p.q[query_begin(p, query.row, query.head) + i];
        simt::cp_async_zfill<16>(&tiles.q[x][i], from, query.row < 0 ? 0 : 16);
    }
}

/* load_keys() of v3.h: of V the first d_v numbers of each row, or none where keys have them. */
template <class A, class W, int MT>
__device__ void load_keys(const WideProblem<A> &p, const cp_task &task, int kv_head, int first_key,
                          int n_keys, Tiles<A, W, MT> &tiles, int buffer) {
    const int OF_K = W::D / PIECE, PIECES = W::IN_KEYS ? OF_K : OF_K + W::D_V / PIECE;
    for (int e = threadIdx.x; first_key < n_keys && e < KEYS * PIECES; e += tiles.THREADS) {
        int j = e / PIECES, i = e % PIECES * PIECE;
        bool there = first_key + j < n_keys;
        if (i < W::D) {
            std::size_t at = there ? slot_begin(p, task, kv_head, first_key + j, p.key_dim) + i : 0;
            simt::cp_async_zfill<16>(&tiles.keys.k[buffer][j][i], &p.k[at], there ? 16 : 0);
        } else if constexpr (!W::IN_KEYS) {
            i -= W::D;
            std::size_t at = there ? slot_begin(p, task, kv_head, first_key + j, p.v_row) + i : 0;
            simt::cp_async_zfill<16>(&tiles.keys.v[buffer][j][i], &p.v[at], there ? 16 : 0);
        }
    }
    simt::cp_async_commit();
}

/* What a lane keeps: m of rows g and g + 8; n over its columns of its warp's keys; and its part of
 * its warp's columns of o. */
template <class A, int COLUMNS> struct Sums {
    typename A::Score m[2];
    typename A::Weight n[2];
    typename A::Weight o[COLUMNS / 8][4];
};

template <class A, int COLUMNS> __device__ void clear(Sums<A, COLUMNS> &sums) {
    for (int r = 0; r < 2; r++) {
        sums.m[r] = A::none();
        sums.n[r] = A::zero();
    }
    SIMT_UNROLL
    for (int i = 0; i < COLUMNS / 8; i++) {
        for (int r = 0; r < 4; r++) {
            sums.o[i][r] = A::zero();
        }
    }
}

/* SOFTMAX-1 without the scale, for 16 queries and the warp's N keys. A ldmatrix takes 32 numbers of
 * eight keys. */
template <class A, class W, int MT, int N>
__device__ void multiply_keys(const Tiles<A, W, MT> &tiles, int buffer, const Place &at,
                              typename A::Score (&s)[N / 8][4]) {
    int q_row = at.x + at.lane % 16, q_column = at.lane / 16 * 8;
    int k_row = at.part * N + at.lane % 8, k_column = at.lane / 8 * 8;
    SIMT_UNROLL
    for (int y = 0; y < N / 8; y++) {
        for (int r = 0; r < 4; r++) {
            s[y][r] = A::no_product();
        }
    }
    SIMT_UNROLL
    for (int i = 0; i < W::D; i += 32) {
        unsigned a[2][4];
        simt::ldmatrix_x4(a[0], &tiles.q[q_row][i + q_column]);
        simt::ldmatrix_x4(a[1], &tiles.q[q_row][i + 16 + q_column]);
        SIMT_UNROLL
        for (int y = 0; y < N / 8; y++) {
            unsigned b[4];
            simt::ldmatrix_x4(b, &tiles.keys.k[buffer][k_row + 8 * y][i + k_column]);
            A::multiply_tiles_of_keys(s[y], a[0], {b[0], b[1]});
            A::multiply_tiles_of_keys(s[y], a[1], {b[2], b[3]});
        }
    }
}

/* SCORE-4, and none() for keys that a row does not see; and the maximum of each row over the warp's
 * keys, of which the first is first_key. */
template <class A, class W, int MT, int N>
__device__ void change(const WideProblem<A> &p, const cp_task &task, Tiles<A, W, MT> &tiles,
                       int first_key, const Place &at, typename A::Score (&s)[N / 8][4]) {
    SIMT_UNROLL
    for (int r = 0; r < 2; r++) {
        int x = at.x + at.g + 8 * r;
        cp_keys_seen seen = tiles.query[x].seen;
        Bias<A> bias = bias_of(p, task, tiles.query[x].row, tiles.query[x].head);
        SIMT_UNROLL
        for (int y = 0; y < N / 8; y++) {
            SIMT_UNROLL
            for (int z = 0; z < 2; z++) {
                typename A::Score &score = s[y][2 * r + z];
                score =
                    changed(p, A::scaled(score, p.scale), bias, first_key + 8 * y + 2 * at.t + z);
            }
        }
        Table<A> table = table_of(p, task, tiles.query[x].row, tiles.query[x].head);
        typename A::Score m = A::none();
        SIMT_UNROLL
        for (int y = 0; y < N / 8; y++) {
            SIMT_UNROLL
            for (int z = 0; z < 2; z++) {
                int key = first_key + 8 * y + 2 * at.t + z;
                typename A::Score &score = s[y][2 * r + z];
                score = with_table(p, score, table, key);
                score = cp_sees(&seen, key) != 0 ? score : A::none();
                m = A::maximum(m, score);
            }
        }
        m = row_maximum<A>(m);
        if (at.t == 0) {
            tiles.m[at.part][x] = m;
        }
    }
}

/* MERGE-3, MERGE-4: finds the new maximum of all warps' keys, rescales n and o to it, computes the
 * weights of the warp's keys, and adds them to n. */
template <class A, class W, int MT, int N, int COLUMNS>
__device__ void weigh(Tiles<A, W, MT> &tiles, const Place &at,
                      const typename A::Score (&s)[N / 8][4], Sums<A, COLUMNS> &sums) {
    typename A::Weight rescale[2];
    SIMT_UNROLL
    for (int r = 0; r < 2; r++) {
        int x = at.x + at.g + 8 * r;
        typename A::Score m = sums.m[r];
        SIMT_UNROLL
        for (int part = 0; part < tiles.ACROSS; part++) {
            m = A::maximum(m, tiles.m[part][x]);
        }
        rescale[r] = A::exponential(sums.m[r], m);
        sums.m[r] = m;
        sums.n[r] = A::multiply(rescale[r], sums.n[r]);
        SIMT_UNROLL
        for (int y = 0; y < N / 8; y++) {
            typename A::Weight low = A::exponential(s[y][2 * r], m);
            typename A::Weight high = A::exponential(s[y][2 * r + 1], m);
            sums.n[r] = A::add(sums.n[r], A::add(low, high));
            tiles.weight[x][(at.part * N + 8 * y) / 2 + at.t] = A::packed(low, high);
        }
    }
    SIMT_UNROLL
    for (int i = 0; i < COLUMNS / 8; i++) {
        SIMT_UNROLL
        for (int r = 0; r < 4; r++) {
            sums.o[i][r] = A::multiply(rescale[r / 2], sums.o[i][r]);
        }
    }
}

/* o += P V for all keys of a tile and the warp's columns. */
template <class A, class W, int MT, int COLUMNS>
__device__ void multiply_values(const WideProblem<A> &p, const Tiles<A, W, MT> &tiles, int buffer,
                                const Place &at, Sums<A, COLUMNS> &sums) {
    int row = at.lane % 16, column = at.lane / 16 * 8;
    SIMT_UNROLL
    for (int j = 0; j < KEYS; j += 16) {
        unsigned a[4];
        simt::ldmatrix_x4(a, &tiles.weight[at.x + row][(j + column) / 2]);
        SIMT_UNROLL
        for (int i = 0; i < COLUMNS; i += 16) {
            unsigned b[4];
            simt::ldmatrix_x4_trans(
                b, tiles.keys.value(buffer, j + row, p.v_begin, at.part * COLUMNS + i + column));
            A::multiply_tiles_of_values(sums.o[i / 8], a, {b[0], b[1]});
            A::multiply_tiles_of_values(sums.o[i / 8 + 1], a, {b[2], b[3]});
        }
    }
}

/* Writes the partial results of the block's queries: each warp its columns of o, one of them m and
 * the sum of all warps' n. */
template <class A, class W, int MT, int COLUMNS>
__device__ void store(const WideProblem<A> &p, Tiles<A, W, MT> &tiles, const Place &at,
                      const Sums<A, COLUMNS> &sums) {
    SIMT_UNROLL
    for (int r = 0; r < 2; r++) {
        typename A::Weight n = row_sum<A>(sums.n[r]);
        if (at.t == 0) {
            tiles.n[at.part][at.x + at.g + 8 * r] = n;
        }
    }
    __syncthreads();
    SIMT_UNROLL
    for (int r = 0; r < 2; r++) {
        int x = at.x + at.g + 8 * r;
        Query query = tiles.query[x];
        if (query.row >= 0) {
            std::size_t state = part_at(p, query.part, query.head);
            typename A::Weight *o = &p.part_o[state * W::D_V + at.part * COLUMNS + 2 * at.t];
            SIMT_UNROLL
            for (int i = 0; i < COLUMNS / 8; i++) {
                o[8 * i] = sums.o[i][2 * r];
                o[8 * i + 1] = sums.o[i][2 * r + 1];
            }
            if (at.part == 0 && at.t == 0) {
                typename A::Weight n = A::zero();
                for (int part = 0; part < tiles.ACROSS; part++) {
                    n = A::add(n, tiles.n[part][x]);
                }
                p.part_m[state] = sums.m[r];
                p.part_n[state] = n;
            }
        }
    }
}

/* Block (task, K/V head, any): the partial results of the queries of a task, 16 MT at a time. */
template <class A, int D, int D_V, bool IN_KEYS, int MT>
__global__ void __launch_bounds__(32 * MT * across(D_V, MT)) attend_widths(WideProblem<A> p) {
    typedef Widths<D, D_V, IN_KEYS> W;
    typedef Tiles<A, W, MT> Shared;
    const int N = KEYS / Shared::ACROSS; /* keys of a tile for each warp */
    const int COLUMNS = D_V / Shared::ACROSS;
    const int QUERIES = Shared::QUERIES;
    static_assert(D % 32 == 0 && COLUMNS % 16 == 0 && N % 8 == 0, "whole tiles of a product");
    SIMT_SHARED_DYNAMIC(Shared, shared);
    Shared &tiles = *shared;
    cp_task task = p.lists.task[blockIdx.x];
    int kv_head = blockIdx.y;
    Place at = place<MT>();
    int n_keys = p.lists.n_keys[blockIdx.x];
    int n_queries = queries_of(p, task);
    for (int first = blockIdx.z * QUERIES; first < n_queries;
         first = cp_next_tile(first, QUERIES, gridDim.z)) {
        Sums<A, COLUMNS> sums;
        clear(sums);
        list_queries(p, task, kv_head, first, n_keys, tiles);
        cp_keys_seen all = keys_of_queries<KEYS>(p, tiles.query, n_keys);
        if (cp_sees_none(&all)) {
            store_none(p, tiles.query);
            __syncthreads();
            continue;
        }
        load_queries(p, tiles);
        int first_key = next_tile(all, 0);
        load_keys(p, task, kv_head, first_key, end_of_tile<KEYS>(all, first_key), tiles, 0);
        for (int buffer = 0, next; first_key < all.end; first_key = next, buffer ^= 1) {
            next = next_tile(all, first_key + KEYS);
            load_keys(p, task, kv_head, next, end_of_tile<KEYS>(all, next), tiles, buffer ^ 1);
            simt::cp_async_wait<1>();
            __syncthreads();
            typename A::Score s[N / 8][4];
            multiply_keys<A, W, MT, N>(tiles, buffer, at, s);
            change<A, W, MT, N>(p, task, tiles, first_key + at.part * N, at, s);
            __syncthreads();
            weigh<A, W, MT, N>(tiles, at, s, sums);
            __syncthreads();
            multiply_values(p, tiles, buffer, at, sums);
            __syncthreads();
        }
        store(p, tiles, at, sums);
        __syncthreads();
    }
}

template <class A, class W, int MT, class Launch>
void launch_tasks(const Launch &launch, const WideProblem<A> &p, const cp_schedule &schedule) {
    typedef Tiles<A, W, MT> Shared;
    const auto kernel = attend_widths<A, W::D, W::D_V, W::IN_KEYS, MT>;
    launch(grid_of_tiles(p, schedule, Shared::QUERIES), dim3(Shared::THREADS), sizeof(Shared),
           kernel, p);
}

/* The two phases, for widths that have tiles; launch is that of merge(), which knows of results
 * alone. */
template <class A, class Launch>
void attend(const Launch &launch, const WideProblem<A> &p, const cp_schedule &schedule) {
    int along = warps_of(schedule.most_rows * (p.n_heads / p.n_kv_heads));
    with_widths(p.key_dim, p.head_dim, p.v_begin >= 0, [&](auto w) {
        typedef decltype(w) W;
        if (along == 1) {
            launch_tasks<A, W, 1>(launch, p, schedule);
        } else if (along == 2) {
            launch_tasks<A, W, 2>(launch, p, schedule);
        } else {
            launch_tasks<A, W, 4>(launch, p, schedule);
        }
    });
    merge(launch, static_cast<const Problem<A> &>(p), schedule);
}

} // namespace widths
} // namespace v3
} // namespace chunkproof

#endif
