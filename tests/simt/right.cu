/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use each feature as it is meant. */
#ifndef KERNELS
#define KERNELS checked
#endif
#include "tests/simt/kernels.h"

namespace KERNELS {

static constexpr unsigned all = 0xFFFFFFFFu;

__global__ void __launch_bounds__(24) indices(unsigned *out) {
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] =
        blockIdx.x + 10 * blockIdx.y + 100 * threadIdx.x + 1000 * threadIdx.y + 10000 * threadIdx.z;
}

/* out[k * 32 + lane], k the kind of shuffle. */
__global__ void shuffles(int *out) {
    int t = static_cast<int>(threadIdx.x);
    out[t] = __shfl_sync(all, t, 3);
    out[32 + t] = __shfl_sync(all, t, 3, 8);
    out[64 + t] = __shfl_up_sync(all, t, 5);
    out[96 + t] = __shfl_up_sync(all, t, 5, 16);
    out[128 + t] = __shfl_down_sync(all, t, 5);
    out[160 + t] = __shfl_down_sync(all, t, 5, 16);
    out[192 + t] = __shfl_xor_sync(all, t, 9);
    out[224 + t] = __shfl_xor_sync(all, t, 9, 8);
    out[256 + t] = __shfl_sync(all, t, 31 - t);
}

__global__ void shuffles_of_types(float *f, unsigned *u, unsigned long long *w, double *d) {
    unsigned t = threadIdx.x;
    f[t] = __shfl_xor_sync(all, 0.5f * static_cast<float>(t), 1);
    u[t] = __shfl_xor_sync(all, t + 0x80000000u, 2);
    w[t] = __shfl_down_sync(all, (1ull << 40) * t, 1);
    d[t] = __shfl_up_sync(all, 0.1 * t, 1);
}

/* Threads that have ended do not vote; each barrier counts its own. */
__global__ void counts(int *out) {
    int t = static_cast<int>(threadIdx.x);
    if (t >= 96) {
        return;
    }
    int third = __syncthreads_count(t % 3 == 0);
    __syncthreads();
    int none = __syncthreads_or(t > 95), one = __syncthreads_or(t == 77);
    int each = __syncthreads_and(t < 96), but_one = __syncthreads_and(t != 40);
    out[t] = third + 100 * none + 1000 * one + 10000 * each + 100000 * but_one;
}

__global__ void votes(unsigned *out) {
    unsigned t = threadIdx.x;
    out[t] = __ballot_sync(all, t % 3 == 0);
    out[32 + t] = static_cast<unsigned>(__any_sync(all, t == 7) + 2 * __any_sync(all, t == 32));
    out[64 + t] = static_cast<unsigned>(__all_sync(all, t < 32) + 2 * __all_sync(all, t != 7));
    out[96 + t] = __activemask() >> t & 1;
}

/* Two halves of a warp on their own, then together; and another warp that has 8 lanes. */
__global__ void part_of_a_warp(int *out) {
    int t = static_cast<int>(threadIdx.x);
    int sum = t;
    if (t < 32) {
        unsigned mask = t < 16 ? 0x0000FFFFu : 0xFFFF0000u;
        for (int step = 8; step > 0; step /= 2) {
            sum += __shfl_xor_sync(mask, sum, step);
        }
        sum += __shfl_xor_sync(all, sum, 16);
    } else {
        sum = __shfl_sync(all, t, 7);
    }
    out[t] = sum;
}

/* Warps 0 and 1 hand numbers to warps 2 and 3 by one barrier for each pair; warp 4 has no part. */
__global__ void named_barriers(int *out) {
    SIMT_SHARED(int, tile, [64]);
    int t = static_cast<int>(threadIdx.x);
    int pair = t / 32 % 2;
    if (t < 64) {
        tile[t] = t * t;
        simt::bar_sync(1 + pair, 64);
    } else if (t < 128) {
        simt::bar_sync(1 + pair, 64);
        out[t] = tile[t - 64];
    }
}

__global__ void threads_end_early(int *out) {
    SIMT_SHARED(int, tile, [64]);
    int t = static_cast<int>(threadIdx.x);
    if (t % 32 >= 20) {
        return;
    }
    tile[t] = t;
    __syncwarp();
    __syncthreads();
    out[t] = tile[t ^ 32] + __shfl_sync(0xFFFFFu, t, 19);
}

/* Thread 1 watches what thread 0 does later, through atomics. */
__global__ void wait_for_flag(int *out) {
    if (threadIdx.x == 0) {
        while (atomicAdd(out, 0) == 0) {
        }
        atomicAdd(out, 1);
    } else if (threadIdx.x == 32) {
        atomicExch(out, 1);
    }
}

/* The order in which threads run. */
__global__ void tickets(int *counter, int *out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(counter, 1);
}

__global__ void atomics(int *sum, unsigned *greatest, int *swapped, float *real) {
    SIMT_SHARED(int, count, );
    unsigned t = threadIdx.x;
    if (t == 0) {
        count = 0;
    }
    __syncthreads();
    atomicAdd(&count, 2);
    atomicMax(greatest, (t * 7) % 64 + blockIdx.x);
    atomicCAS(swapped, static_cast<int>(t), static_cast<int>(t) + 1);
    atomicAdd(real, 0.5f);
    __syncthreads();
    if (t == 0) {
        atomicAdd(sum, count);
    }
}

__global__ void bit_atomics(unsigned *u, int *i, unsigned long long *w, float *f) {
    unsigned t = threadIdx.x;
    atomicInc(&u[0], 6);
    atomicDec(&u[1], 6);
    atomicOr(&u[2], 1u << t % 32);
    atomicAnd(&u[3], ~(1u << t % 31));
    atomicXor(&u[4], t + 1);
    atomicSub(&u[5], 2);
    atomicOr(&i[0], 1 << t % 31);
    atomicAnd(&i[1], ~(1 << t % 31));
    atomicXor(&i[2], static_cast<int>(t) + 1);
    atomicSub(&i[3], static_cast<int>(t));
    atomicMin(&w[0], t + 5ull);
    if (t == 7 && blockIdx.x == 0) {
        w[2] = atomicExch(&w[1], 1ull << 40);
        f[1] = atomicExch(&f[0], 0.5f);
    }
}

template <int number> __device__ int *array_of() {
    SIMT_SHARED(int, own, [32]);
    return own;
}

__global__ void arrays_of_instances(int *out) {
    int t = static_cast<int>(threadIdx.x);
    array_of<1>()[t] = t;
    array_of<2>()[t] = 2 * t;
    __syncthreads();
    out[t] = array_of<1>()[31 - t] + 100 * array_of<2>()[31 - t];
}

__global__ void halves(const float *in, float *out) {
    int t = static_cast<int>(threadIdx.x);
    __half one = __float2half_rn(in[t]);
    __half2 two = __floats2half2_rn(in[t], in[(t + 1) % 32]);
    float2 back = __half22float2(two);
    out[t] = __half2float(one);
    out[32 + t] = back.x - __low2float(two);
    out[64 + t] = back.y;
    out[96 + t] = __half2float(__hadd(one, __high2half(two)));
    out[128 + t] = __half2float(__hmul(one, __high2half(two)));
}

__global__ void bfloats(const float *in, float *out) {
    int t = static_cast<int>(threadIdx.x);
    __nv_bfloat162 two = __floats2bfloat162_rn(in[t], in[(t + 1) % 32]);
    float2 back = __bfloat1622float2(two);
    out[t] = __bfloat162float(__float2bfloat16_rn(in[t]));
    out[32 + t] = back.x - __bfloat162float(__low2bfloat16(two));
    out[64 + t] = back.y;
}

/* Copies of 4, 8 and 16 bytes, and one of 16 of which 6 are used; each waits for its own. */
__global__ void async_copies(const char *in, char *out) {
    SIMT_SHARED_DYNAMIC(char, tile);
    int t = static_cast<int>(threadIdx.x);
    simt::cp_async<4>(tile + 16 * t, in + 16 * t);
    simt::cp_async_commit();
    simt::cp_async<4>(tile + 16 * t + 4, in + 16 * t + 4);
    simt::cp_async<8>(tile + 16 * t + 8, in + 16 * t + 8);
    simt::cp_async_commit();
    simt::cp_async<16>(tile + 512 + 16 * t, in + 512 + 16 * t);
    simt::cp_async_commit();
    simt::cp_async_zfill<16>(tile + 1024 + 16 * t, in + 1024 + 16 * t, 6);
    simt::cp_async_wait<0>(); /* all that is committed */
    __syncthreads();
    for (int i = t; i < 1024; i += 32) {
        out[i] = tile[i];
    }
    simt::cp_async_wait_all();
    __syncthreads();
    for (int i = 1024 + t; i < 1536; i += 32) {
        out[i] = tile[i];
    }
}

/* Four matrices of 8 x 8, stored one after the other; out[k][lane][register], k as called. */
__global__ void load_matrices(const __half *in, unsigned *out) {
    SIMT_SHARED(__half, tile, [256]);
    int t = static_cast<int>(threadIdx.x);
    for (int i = t; i < 256; i += 32) {
        tile[i] = in[i];
    }
    __syncwarp();
    unsigned r[6][4] = {};
    unsigned(&x1)[1] = reinterpret_cast<unsigned(&)[1]>(r[0]);
    unsigned(&x2)[2] = reinterpret_cast<unsigned(&)[2]>(r[1]);
    unsigned(&y1)[1] = reinterpret_cast<unsigned(&)[1]>(r[3]);
    unsigned(&y2)[2] = reinterpret_cast<unsigned(&)[2]>(r[4]);
    simt::ldmatrix_x1(x1, tile + 8 * (t % 8));
    simt::ldmatrix_x2(x2, tile + 8 * (t % 16));
    simt::ldmatrix_x4(r[2], tile + 8 * t);
    simt::ldmatrix_x1_trans(y1, tile + 8 * (t % 8));
    simt::ldmatrix_x2_trans(y2, tile + 8 * (t % 16));
    simt::ldmatrix_x4_trans(r[5], tile + 8 * t);
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < 4; i++) {
            out[(k * 32 + t) * 4 + i] = r[k][i];
        }
    }
}

/* One product for each block, fragments as the lanes hold them. */
template <bool BFLOATS>
__device__ void multiply_any(const unsigned *a, const unsigned *b, const float *c, float *d) {
    unsigned lane = blockIdx.x * 32 + threadIdx.x;
    unsigned x[4];
    unsigned y[2];
    float z[4];
    for (unsigned i = 0; i < 4; i++) {
        x[i] = a[4 * lane + i];
        z[i] = c[4 * lane + i];
        y[i / 2] = b[2 * lane + i / 2];
    }
    float sum[4];
    if (BFLOATS) {
        simt::mma_m16n8k16_bf16(sum, x, y, z);
    } else {
        simt::mma_m16n8k16(sum, x, y, z);
    }
    for (unsigned i = 0; i < 4; i++) {
        d[4 * lane + i] = sum[i];
    }
}

__global__ void multiply(const unsigned *a, const unsigned *b, const float *c, float *d) {
    multiply_any<false>(a, b, c, d);
}

__global__ void multiply_bfloats(const unsigned *a, const unsigned *b, const float *c, float *d) {
    multiply_any<true>(a, b, c, d);
}

__global__ void multiply_often(float *out, int times) {
    const unsigned x[4] = {};
    const unsigned y[2] = {};
    float z[4] = {};
    for (int i = 0; i < times; i++) {
        simt::mma_m16n8k16(z, x, y, z);
    }
    out[threadIdx.x] = z[0];
}

__global__ void pass_often(int *out, int times) {
    for (int i = 0; i < times; i++) {
        __syncthreads();
    }
    out[threadIdx.x] = times;
}

/* What a warp has of the keys that it has seen: maximum, sum of weights, and o for two columns. */
struct State {
    float m;
    float n;
    float2 o;
};

static __device__ State merged(State a, State b) {
    float m = fmaxf(a.m, b.m);
    float x = __expf(a.m - m);
    float y = __expf(b.m - m);
    return {m, x * a.n + y * b.n, make_float2(x * a.o.x + y * b.o.x, x * a.o.y + y * b.o.y)};
}

/* A query, 64 keys and values of 64 columns in binary16. Each of four warps takes 16 keys, a lane
 * two columns; the first warp merges. */
__global__ void decode(const __half *q, const __half *k, const __half *v, float *out, float scale) {
    SIMT_SHARED_DYNAMIC(__half, keys);
    SIMT_SHARED(State, states, [4][32]);
    __half *values = keys + 64 * 64;
    int t = static_cast<int>(threadIdx.x);
    int warp = t / 32;
    int lane = t % 32;
    for (int i = t; i < 512; i += 128) {
        simt::cp_async<16>(keys + 8 * i, k + 8 * i);
    }
    simt::cp_async_commit();
    for (int i = t; i < 512; i += 128) {
        simt::cp_async<16>(values + 8 * i, v + 8 * i);
    }
    simt::cp_async_commit();
    float2 query = make_float2(__half2float(q[2 * lane]), __half2float(q[2 * lane + 1]));
    State state = {-INFINITY, 0.0f, make_float2(0.0f, 0.0f)};
    simt::cp_async_wait<1>();
    __syncthreads();
    float scores[16];
    for (int i = 0; i < 16; i++) {
        const __half *row = keys + 64 * (16 * warp + i) + 2 * lane;
        float score = query.x * __half2float(row[0]) + query.y * __half2float(row[1]);
        for (int step = 16; step > 0; step /= 2) {
            score += __shfl_xor_sync(all, score, step);
        }
        scores[i] = score * scale;
    }
    simt::cp_async_wait<0>();
    __syncthreads();
    for (int i = 0; i < 16; i++) {
        const __half *row = values + 64 * (16 * warp + i) + 2 * lane;
        State one = {scores[i], 1.0f, make_float2(__half2float(row[0]), __half2float(row[1]))};
        state = merged(state, one);
    }
    states[warp][lane] = state;
    __syncthreads();
    if (warp == 0) {
        for (int i = 1; i < 4; i++) {
            state = merged(state, states[i][lane]);
        }
        out[2 * lane] = state.o.x / state.n;
        out[2 * lane + 1] = state.o.y / state.n;
    }
}

} // namespace KERNELS
