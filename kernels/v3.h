/* SPDX-License-Identifier: Apache-2.0 */
/* Version 3: version 2 on tensor cores. A block of four warps has QUERIES = 16 MT queries. MT warps
 * divide the queries among them, and 4 / MT warps divide the keys of a tile. Each warp keeps the
 * sums of its part in registers; they are merged at the end. With MT = 2:
 *
 *                       keys 0..31   keys 32..63
 *     queries 0..15     warp 0       warp 2
 *     queries 16..31    warp 1       warp 3
 *
 * The next tile of keys is copied to shared memory while the present one is used. One of 8 bits is
 * copied as it is, and converted once it is there. Compute capability 8.0 and up; head
 * dimensions that are multiples of 16; any chunk size.
 *
 * A product of tiles is mma.m16n8k16. With g = lane / 4 and t = lane % 4, a lane has four of the 16
 * x 8 sums: numbers 0, 1 are in row g, and 2, 3 in row g + 8; both pairs are in columns 2 t, 2 t +
 * 1. */
#ifndef CHUNKPROOF_KERNELS_V3_H
#define CHUNKPROOF_KERNELS_V3_H

#include "kernels/queries.h"
#include "kernels/scores.h"

namespace chunkproof {
namespace v3 {

const int WARPS = 4;
const int THREADS = 32 * WARPS;
const int KEYS = 64;  /* keys of a tile */
const int PIECE = 8;  /* 16-bit elements that are copied together */
const int BYTES = 16; /* numbers of 8 bits that are */

/* Shared memory of a block. Rows are one piece longer than necessary, so that the eight rows that
 * ldmatrix reads together are in different banks. After the last key, the sums of all warps take
 * the place of the keys. */
template <class A, int D, bool = A::OF_8_BITS> struct Keys {
    static const int ROW = D + PIECE;
    alignas(16) typename A::Key k[2][KEYS][ROW];
    alignas(16) typename A::Value v[2][KEYS][ROW];

    /* Where a copy goes to. */
    __device__ void *k_to(int buffer, int j, int i) {
        return &k[buffer][j][i];
    }

    __device__ void *v_to(int buffer, int j, int i) {
        return &v[buffer][j][i];
    }
};

/* Of 8 bits: the tile in use, and two as they are stored, with their scales. */
template <class A, int D> struct Keys<A, D, true> {
    static const int ROW = D + PIECE;
    alignas(16) typename A::Key k[1][KEYS][ROW];
    alignas(16) typename A::Value v[1][KEYS][ROW];
    alignas(16) std::uint8_t stored_k[2][KEYS][D];
    alignas(16) std::uint8_t stored_v[2][KEYS][D];
    ScalesOfTile<A, KEYS> scales[2];

    __device__ void *k_to(int buffer, int j, int i) {
        return &stored_k[buffer][j][i];
    }

    __device__ void *v_to(int buffer, int j, int i) {
        return &stored_v[buffer][j][i];
    }
};

template <class A, int D, int MT> struct Tiles {
    static const int QUERIES = 16 * MT;
    static const int ROW = D + PIECE;
    alignas(16) typename A::Key q[QUERIES][ROW];
    union {
        Keys<A, D> keys;
        struct {
            typename A::Weight o[WARPS][16][D];
            typename A::Weight n[WARPS][16];
            typename A::Score m[WARPS][16];
        };
    };
    Query query[QUERIES];
};

template <class A, int D, int MT>
__device__ void list_queries(const Problem<A> &p, const cp_task &task, int kv_head, int first,
                             int n_keys, Tiles<A, D, MT> &tiles) {
    int thread = threadIdx.x;
    if (thread < tiles.QUERIES) {
        Query query = query_of(p, task, kv_head, first + thread, n_keys);
        tiles.query[thread] = query;
    }
    __syncthreads();
}

template <class A, int D, int MT>
__device__ void load_queries(const Problem<A> &p, Tiles<A, D, MT> &tiles) {
    const int QUERIES = Tiles<A, D, MT>::QUERIES;
    for (int e = threadIdx.x; e < QUERIES * (D / PIECE); e += THREADS) {
        int x = e / (D / PIECE), i = e % (D / PIECE) * PIECE;
        Query query = tiles.query[x];
        const typename A::Key *from =
            query.row < 0 ? p.q : &p.q[row_begin(p, query.row, query.head) + i];
        simt::cp_async_zfill<16>(&tiles.q[x][i], from, query.row < 0 ? 0 : 16);
    }
}

/* Of keys first_key, first_key + 1, ... of 8 bits: the scales; 1 where there is none, and of V
 * where o has it. A thread copies one. */
template <class A, int D, int MT>
__device__ void load_scales(const Problem<A> &p, const cp_task &task, int kv_head, int first_key,
                            int n_keys, Tiles<A, D, MT> &tiles, int buffer) {
    int j = threadIdx.x % KEYS, of_v = threadIdx.x / KEYS;
    auto &scales = tiles.keys.scales[buffer];
    auto *to = of_v != 0 ? &scales.v_scale[j] : &scales.k_scale[j];
    auto *from = of_v == 0 ? p.k_scales : scales_each_value(p) ? p.v_scales : nullptr;
    if (from != nullptr && first_key + j < n_keys) {
        simt::cp_async<4>(to, from + scale_of_key(p, task, kv_head, first_key + j));
    } else {
        *to = 1;
    }
}

/* Copies keys first_key, first_key + 1, ... of the task to a buffer, and zeros from key n_keys on:
 * the slots after the last key are never read. After the last tile it copies nothing, but still
 * commits a group of copies, because the wait counts groups. */
template <class A, int D, int MT>
__device__ void load_keys(const Problem<A> &p, const cp_task &task, int kv_head, int first_key,
                          int n_keys, Tiles<A, D, MT> &tiles, int buffer) {
    const int N = A::OF_8_BITS ? BYTES : PIECE; /* numbers of 16 bytes */
    for (int e = threadIdx.x; first_key < n_keys && e < KEYS * (D / N); e += THREADS) {
        int j = e / (D / N), i = e % (D / N) * N;
        bool there = first_key + j < n_keys;
        std::size_t at = there ? key_begin(p, task, kv_head, first_key + j) + i : 0;
        simt::cp_async_zfill<16>(tiles.keys.k_to(buffer, j, i), &p.k[at], there ? 16 : 0);
        simt::cp_async_zfill<16>(tiles.keys.v_to(buffer, j, i), &p.v[at], there ? 16 : 0);
    }
    if constexpr (A::OF_8_BITS) {
        load_scales(p, task, kv_head, first_key, n_keys, tiles, buffer);
    }
    simt::cp_async_commit();
}

template <class A, class T>
__device__ void convert_piece(T *to, const std::uint8_t *from, int type,
                              typename A::CacheScale scale) {
    uint4 bytes = *reinterpret_cast<const uint4 *>(from);
    uint4 first = unpacked<A>(type, bytes.x, bytes.y, scale);
    uint4 second = unpacked<A>(type, bytes.z, bytes.w, scale);
    reinterpret_cast<uint4 *>(to)[0] = first;
    reinterpret_cast<uint4 *>(to)[1] = second;
}

/* Makes the tile of a buffer, of 8 bits, that in use. */
template <class A, int D, int MT>
__device__ void convert_keys(const Problem<A> &p, Tiles<A, D, MT> &tiles, int buffer) {
    auto &keys = tiles.keys;
    for (int e = threadIdx.x; e < KEYS * (D / BYTES); e += THREADS) {
        int j = e / (D / BYTES), i = e % (D / BYTES) * BYTES;
        convert_piece<A>(&keys.k[0][j][i], &keys.stored_k[buffer][j][i], p.k_type, 1);
        convert_piece<A>(&keys.v[0][j][i], &keys.stored_v[buffer][j][i], p.v_type,
                         keys.scales[buffer].v_scale[j]);
    }
    __syncthreads();
}

/* What a lane keeps of its warp's 16 queries: m and n of rows g and g + 8 (n only over this lane's
 * columns), and its part of o. */
template <class A, int D> struct Sums {
    typename A::Score m[2];
    typename A::Weight n[2];
    typename A::Weight o[D / 8][4];
};

template <class A, int D> __device__ void clear(Sums<A, D> &sums) {
    for (int r = 0; r < 2; r++) {
        sums.m[r] = A::none();
        sums.n[r] = A::zero();
    }
    SIMT_UNROLL
    for (int i = 0; i < D / 8; i++) {
        for (int r = 0; r < 4; r++) {
            sums.o[i][r] = A::zero();
        }
    }
}

/* The maximum, and the sum, over the four lanes that share a row. */
template <class A> __device__ typename A::Score row_maximum(typename A::Score x) {
    x = A::maximum(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
    return A::maximum(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
}

template <class A> __device__ typename A::Weight row_sum(typename A::Weight x) {
    x = A::add(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
    return A::add(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
}

/* SOFTMAX-1 without the scale: Q K^T for 16 queries and N keys, from row `x` of q and row `j` of
 * k. */
template <class A, int D, int MT, int N>
__device__ void multiply_keys(const Tiles<A, D, MT> &tiles, int buffer, int x, int j,
                              typename A::Score (&s)[N / 8][4]) {
    int lane = threadIdx.x % 32;
    int q_row = x + lane % 16, q_column = lane / 16 * 8;
    int k_row = j + lane % 8 + lane / 16 * 8, k_column = lane / 8 % 2 * 8;
    SIMT_UNROLL
    for (int y = 0; y < N / 8; y++) {
        for (int r = 0; r < 4; r++) {
            s[y][r] = A::no_product();
        }
    }
    SIMT_UNROLL
    for (int i = 0; i < D; i += 16) {
        unsigned a[4];
        simt::ldmatrix_x4(a, &tiles.q[q_row][i + q_column]);
        SIMT_UNROLL
        for (int y = 0; y < N / 8; y += 2) {
            unsigned b[4];
            simt::ldmatrix_x4(b, &tiles.keys.k[buffer][k_row + 8 * y][i + k_column]);
            A::multiply_tiles_of_keys(s[y], a, {b[0], b[1]});
            A::multiply_tiles_of_keys(s[y + 1], a, {b[2], b[3]});
        }
    }
}

/* SCORE-4: scales and changes the scores, also of keys that a row does not see. `query` and
 * first_key are those of weigh(). k_scale: of the same keys, of 8 bits. */
template <class A, int D, int N>
__device__ void change(const Problem<A> &p, const cp_task &task, typename A::Score (&s)[N / 8][4],
                       int first_key, const Query *query, const typename A::CacheScale *k_scale) {
    int column = threadIdx.x % 4 * 2;
    SIMT_UNROLL
    for (int r = 0; r < 2; r++) {
        Bias<A> bias = bias_of(p, task, query[8 * r].row, query[8 * r].head);
        SIMT_UNROLL
        for (int y = 0; y < N / 8; y++) {
            SIMT_UNROLL
            for (int x = 0; x < 2; x++) {
                int key = 8 * y + column + x;
                typename A::Score score = A::scaled(s[y][2 * r + x], p.scale);
                if constexpr (A::OF_8_BITS) {
                    score = A::scaled(score, k_scale[key]);
                }
                s[y][2 * r + x] = changed(p, score, bias, first_key + key);
            }
        }
    }
    SIMT_UNROLL
    for (int r = 0; r < 2 && p.biases != nullptr; r++) {
        Table<A> table = table_of(p, task, query[8 * r].row, query[8 * r].head);
        SIMT_UNROLL
        for (int y = 0; y < N / 8; y++) {
            SIMT_UNROLL
            for (int x = 0; x < 2; x++) {
                typename A::Score &score = s[y][2 * r + x];
                score = with_table(p, score, table, first_key + 8 * y + column + x);
            }
        }
    }
}

/* MERGE-3, MERGE-4: scales the scores (none() for keys that a row does not see), finds the new
 * maximum, and rescales n and o to it. `query` is the lane's first one, of row g. first_key is the
 * number in the task of the first of the N keys. */
template <class A, int D, int N, bool WINDOW>
__device__ void weigh(typename A::Scale scale, typename A::Score (&s)[N / 8][4], int first_key,
                      const Query *query, Sums<A, D> &sums) {
    int column = threadIdx.x % 4 * 2;
    typename A::Weight rescale[2];
    SIMT_UNROLL
    for (int r = 0; r < 2; r++) {
        typename A::Score m = sums.m[r];
        cp_keys_seen of_row = query[8 * r].seen;
        SIMT_UNROLL
        for (int y = 0; y < N / 8; y++) {
            SIMT_UNROLL
            for (int x = 0; x < 2; x++) {
                int key = first_key + 8 * y + column + x;
                bool seen = WINDOW ? cp_sees(&of_row, key) != 0 : key < of_row.end;
                typename A::Score &score = s[y][2 * r + x];
                score = seen ? A::scaled(score, scale) : A::none();
                m = A::maximum(m, score);
            }
        }
        m = row_maximum<A>(m);
        rescale[r] = A::exponential(sums.m[r], m);
        sums.m[r] = m;
        sums.n[r] = A::multiply(rescale[r], sums.n[r]);
    }
    SIMT_UNROLL
    for (int i = 0; i < D / 8; i++) {
        SIMT_UNROLL
        for (int r = 0; r < 4; r++) {
            sums.o[i][r] = A::multiply(rescale[r / 2], sums.o[i][r]);
        }
    }
}

/* Computes the weights of the 16 keys whose scores are s[0] and s[1], packs them as a tile for the
 * product, and adds them to n. */
template <class A, int D>
__device__ void weights_of(const typename A::Score (&s)[2][4], Sums<A, D> &sums, unsigned (&a)[4]) {
    SIMT_UNROLL
    for (int y = 0; y < 2; y++) {
        SIMT_UNROLL
        for (int r = 0; r < 2; r++) {
            typename A::Weight low = A::exponential(s[y][2 * r], sums.m[r]);
            typename A::Weight high = A::exponential(s[y][2 * r + 1], sums.m[r]);
            sums.n[r] = A::add(sums.n[r], A::add(low, high));
            a[2 * y + r] = A::packed(low, high);
        }
    }
}

/* o += P V for N keys from row `j` of v on. */
template <class A, int D, int MT, int N>
__device__ void multiply_values(const Tiles<A, D, MT> &tiles, int buffer, int j,
                                const typename A::Score (&s)[N / 8][4], Sums<A, D> &sums) {
    int lane = threadIdx.x % 32;
    int v_row = j + lane % 16, v_column = lane / 16 * 8;
    SIMT_UNROLL
    for (int y = 0; y < N / 8; y += 2) {
        unsigned a[4];
        weights_of<A, D>({{s[y][0], s[y][1], s[y][2], s[y][3]},
                          {s[y + 1][0], s[y + 1][1], s[y + 1][2], s[y + 1][3]}},
                         sums, a);
        SIMT_UNROLL
        for (int i = 0; i < D / 8; i += 2) {
            unsigned b[4];
            simt::ldmatrix_x4_trans(b, &tiles.keys.v[buffer][v_row + 8 * y][8 * i + v_column]);
            A::multiply_tiles_of_values(sums.o[i], a, {b[0], b[1]});
            A::multiply_tiles_of_values(sums.o[i + 1], a, {b[2], b[3]});
        }
    }
}

/* Writes a warp's sums to shared memory. */
template <class A, int D, int MT> __device__ void keep(Sums<A, D> &sums, Tiles<A, D, MT> &tiles) {
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    SIMT_UNROLL
    for (int r = 0; r < 2; r++) {
        typename A::Weight n = row_sum<A>(sums.n[r]);
        if (t == 0) {
            tiles.m[warp][g + 8 * r] = sums.m[r];
            tiles.n[warp][g + 8 * r] = n;
        }
    }
    SIMT_UNROLL
    for (int i = 0; i < D / 8; i++) {
        SIMT_UNROLL
        for (int r = 0; r < 4; r++) {
            tiles.o[warp][g + 8 * (r / 2)][8 * i + 2 * t + r % 2] = sums.o[i][r];
        }
    }
}

/* Writes the partial results of the block's queries; merges those of the warps that share a
 * query. */
template <class A, int D, int MT>
__device__ void store(const Problem<A> &p, const Tiles<A, D, MT> &tiles) {
    for (int e = threadIdx.x; e < tiles.QUERIES * D; e += THREADS) {
        int x = e / D, i = e % D;
        Query query = tiles.query[x];
        if (query.row >= 0) {
            State<A> state = empty_state<A>();
            for (int warp = x / 16; warp < WARPS; warp += MT) {
                attn_reduce(state, State<A>{tiles.m[warp][x % 16], tiles.n[warp][x % 16],
                                            tiles.o[warp][x % 16][i]});
            }
            if constexpr (A::OF_8_BITS) {
                state.o = A::multiply(state.o, scale_of_sums(p, kv_head_of(p, query.head)));
            }
            std::size_t at = part_at(p, query.part, query.head);
            p.part_o[at * D + i] = state.o;
            if (i == 0) {
                p.part_m[at] = state.m;
                p.part_n[at] = state.n;
            }
        }
    }
}

/* Block (task, K/V head, any): the partial results of the queries of a task, 16 MT at a time. */
template <class A, int D, int MT, bool CHANGED>
__global__ void __launch_bounds__(THREADS) attend_tasks(Problem<A> p) {
    typedef Tiles<A, D, MT> Shared;
    const int N = KEYS * MT / WARPS; /* keys of a tile for each warp */
    const int QUERIES = Shared::QUERIES;
    SIMT_SHARED_DYNAMIC(Shared, shared);
    Shared &tiles = *shared;
    cp_task task = p.lists.task[blockIdx.x];
    int kv_head = blockIdx.y, warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4;
    int x = warp % MT * 16, j = warp / MT * N;
    int n_keys = p.lists.n_keys[blockIdx.x];
    int n_queries = queries_of(p, task);
    for (int first = blockIdx.z * QUERIES; first < n_queries;
         first = cp_next_tile(first, QUERIES, gridDim.z)) {
        Sums<A, D> sums;
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
            const typename A::CacheScale *k_scale = nullptr;
            if constexpr (A::OF_8_BITS) {
                convert_keys(p, tiles, buffer);
                k_scale = &tiles.keys.scales[buffer].k_scale[j];
            }
            int in_use = A::OF_8_BITS ? 0 : buffer;
            typename A::Score s[N / 8][4];
            multiply_keys<A, D, MT, N>(tiles, in_use, x, j, s);
            if (CHANGED) {
                change<A, D, N>(p, task, s, first_key + j, &tiles.query[x + g], k_scale);
            }
            typename A::Scale scale = CHANGED ? A::scaled_already() : p.scale;
            if (p.window.keys == 0) {
                weigh<A, D, N, false>(scale, s, first_key + j, &tiles.query[x + g], sums);
            } else {
                weigh<A, D, N, true>(scale, s, first_key + j, &tiles.query[x + g], sums);
            }
            multiply_values<A, D, MT, N>(tiles, in_use, j, s, sums);
            __syncthreads();
        }
        keep(sums, tiles);
        __syncthreads();
        store(p, tiles);
        __syncthreads();
    }
}

/* How many warps divide the queries among them. */
inline int warps_of(int queries) {
    return queries <= 16 ? 1 : queries <= 32 ? 2 : 4;
}

template <class A, int D, int MT, class Launch>
void launch_tasks(const Launch &launch, const Problem<A> &p, const cp_schedule &schedule) {
    typedef Tiles<A, D, MT> Shared;
    const auto kernel =
        changes_scores(p) ? attend_tasks<A, D, MT, true> : attend_tasks<A, D, MT, A::OF_8_BITS>;
    launch(grid_of_tiles(p, schedule, Shared::QUERIES), dim3(THREADS), sizeof(Shared), kernel, p);
}

/* The two phases, for a head dimension that has tiles; launch is that of merge(). */
template <class A, class Launch>
void attend(const Launch &launch, const Problem<A> &p, const cp_schedule &schedule) {
    int along = warps_of(schedule.most_rows * (p.n_heads / p.n_kv_heads));
    with_head_dim(p.head_dim, [&](auto d) {
        if (along == 1) {
            launch_tasks<A, d.value, 1>(launch, p, schedule);
        } else if (along == 2) {
            launch_tasks<A, d.value, 2>(launch, p, schedule);
        } else {
            launch_tasks<A, d.value, 4>(launch, p, schedule);
        }
    });
    merge(launch, p, schedule);
}

} // namespace v3
} // namespace chunkproof

#endif
