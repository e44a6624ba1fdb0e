/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with one defect each, and without it when `right` is true. */
#ifndef KERNELS
#define KERNELS checked
#endif
#include "tests/simt/kernels.h"

namespace KERNELS {

__global__ void missing_barrier(int *out, bool right) {
    SIMT_SHARED(int, tile, [64]);
    int t = static_cast<int>(threadIdx.x);
    tile[t] = t;
    if (right) {
        __syncthreads();
    }
    out[t] = tile[(t + 32) % 64];
}

__global__ void write_write(int *out, bool right) {
    SIMT_SHARED(int, last, );
    int t = static_cast<int>(threadIdx.x);
    if (!right || t == 0) {
        last = 1;
    }
    __syncthreads();
    out[t] = last;
}

__global__ void write_after_read(int *out, bool right) {
    SIMT_SHARED(int, tile, [64]);
    int t = static_cast<int>(threadIdx.x);
    tile[t] = t;
    __syncthreads();
    int seen = tile[(t + 1) % 64];
    if (right) {
        __syncthreads();
    }
    tile[t] = seen;
    out[t] = seen;
}

__global__ void warp_exchange(int *out, bool right) {
    SIMT_SHARED(int, tile, [32]);
    int t = static_cast<int>(threadIdx.x);
    tile[t] = t;
    if (right) {
        __syncwarp();
    }
    out[t] = tile[t ^ 1];
}

__global__ void warps_exchange(int *out, bool right) {
    SIMT_SHARED(int, tile, [64]);
    int t = static_cast<int>(threadIdx.x);
    tile[t] = t;
    __syncwarp();
    out[t] = tile[right ? t ^ 1 : t ^ 32];
}

__global__ void halves_exchange(int *out, bool right) {
    SIMT_SHARED(int, tile, [32]);
    int t = static_cast<int>(threadIdx.x);
    tile[t] = t;
    __syncwarp(t < 16 ? 0x0000FFFFu : 0xFFFF0000u);
    out[t] = tile[right ? t ^ 1 : t ^ 16];
}

__global__ void one_reads_one_writes(int *out, bool right) {
    SIMT_SHARED(int, tile, [32]);
    int t = static_cast<int>(threadIdx.x);
    tile[t] = t;
    __syncwarp();
    out[t] = t == 0 ? tile[1] : 0;
    if (right) {
        __syncwarp();
    }
    if (t == 1) {
        tile[1] = 5;
    }
}

/* Lane 2 writes and meets lane 1, which then meets lane 0, which reads. */
__global__ void order_in_a_chain(int *out, bool right) {
    SIMT_SHARED(int, last, );
    int t = static_cast<int>(threadIdx.x);
    if (t == 2) {
        last = 7;
    }
    if (right && (t == 1 || t == 2)) {
        __syncwarp(6);
    }
    if (t == 0 || t == 1) {
        __syncwarp(3);
    }
    if (t == 0) {
        out[0] = last;
    }
}

__global__ void shuffle_orders(int *out) {
    SIMT_SHARED(int, tile, [32]);
    int t = static_cast<int>(threadIdx.x);
    tile[t] = t;
    out[t] = __shfl_sync(0xFFFFFFFFu, t, 0);
    out[t] += tile[t ^ 1];
}

__global__ void bytes_apart(unsigned char *out, bool right) {
    SIMT_SHARED(unsigned char, tile, [64]);
    unsigned t = threadIdx.x;
    tile[right ? t : t / 2] = static_cast<unsigned char>(t);
    __syncthreads();
    out[t] = right ? tile[t ^ 1] : tile[0];
}

__global__ void missing_wait(const float *in, float *out, bool right) {
    SIMT_SHARED(float, tile, [32]);
    int t = static_cast<int>(threadIdx.x);
    simt::cp_async<4>(&tile[t], &in[t]);
    simt::cp_async_commit();
    if (right) {
        simt::cp_async_wait<0>();
    }
    __syncthreads();
    out[t] = tile[31 - t];
}

__global__ void wait_without_barrier(const float *in, float *out, bool right) {
    SIMT_SHARED(float, tile, [32]);
    int t = static_cast<int>(threadIdx.x);
    simt::cp_async<4>(&tile[t], &in[t]);
    simt::cp_async_wait_all();
    if (right) {
        __syncthreads();
    }
    out[t] = tile[31 - t];
}

__global__ void wrong_group(const float *in, float *out, bool right) {
    SIMT_SHARED(float, tile, [2][32]);
    int t = static_cast<int>(threadIdx.x);
    simt::cp_async<4>(&tile[0][t], &in[t]);
    simt::cp_async_commit();
    simt::cp_async<4>(&tile[1][t], &in[32 + t]);
    simt::cp_async_commit();
    simt::cp_async_wait<1>();
    __syncthreads();
    float sum = tile[0][31 - t];
    if (right) {
        simt::cp_async_wait<0>();
    } else {
        simt::cp_async_wait<1>();
    }
    __syncthreads();
    out[t] = sum + tile[1][31 - t];
}

__global__ void write_in_flight(const float *in, float *out, bool right) {
    SIMT_SHARED(float, tile, [32]);
    int t = static_cast<int>(threadIdx.x);
    simt::cp_async<4>(&tile[t], &in[t]);
    if (right) {
        simt::cp_async_wait_all();
    }
    tile[t] = 1.0f;
    simt::cp_async_wait_all();
    out[t] = tile[t];
}

__global__ void branch_barriers(int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    if (t < (right ? 32 : 16)) {
        out[t] = 1;
        __syncthreads();
    } else {
        out[t] = 2;
        __syncthreads();
    }
}

__global__ void two_barriers(int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    if (right || t < 32) {
        simt::bar_sync(1, 64);
    } else {
        __syncthreads();
    }
    out[t] = t;
}

__global__ void short_barrier(int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    if (t < 32) {
        simt::bar_sync(3, right ? 32 : 64);
    }
    out[t] = t;
}

__global__ void counts_differ(int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    simt::bar_sync(2, right || t < 32 ? 64 : 32);
    out[t] = t;
}

__global__ void divergent_shuffle(int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    int value = t;
    if (right || t < 16) {
        value = __shfl_sync(0xFFFFFFFFu, t, 0);
    } else {
        __syncwarp();
    }
    out[t] = value;
}

__global__ void masks_differ(int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    unsigned mask = t < 16 ? 0x0000FFFFu : right ? 0xFFFF0000u : 0xFFFFFFFFu;
    out[t] = __shfl_xor_sync(mask, t, 1);
    __syncwarp();
}

__global__ void not_in_mask(int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    if (t < 16) {
        out[t] = static_cast<int>(__ballot_sync(right ? 0xFFFFu : 0xFFFEu, 1));
    }
}

__global__ void inactive_lane(int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    if (t < 16) {
        out[t] = __shfl_xor_sync(0xFFFFu, t, right ? 8 : 16);
    }
}

__global__ void half_a_warp_mma(float *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    if (!right && t >= 16) {
        return;
    }
    unsigned a[4] = {};
    unsigned b[2] = {};
    float c[4] = {};
    simt::mma_m16n8k16(c, a, b, c);
    out[t] = c[0];
}

__global__ void read_outside(int *out, bool right) {
    SIMT_SHARED(int, tile, [64]);
    SIMT_SHARED(int, next, [64]);
    int t = static_cast<int>(threadIdx.x);
    tile[t] = next[t] = t;
    __syncthreads();
    const int *row = tile;
    out[t] = row[right ? (t + 1) % 64 : t + 1] + next[t];
}

__global__ void write_outside(int *out, bool right) {
    SIMT_SHARED(int, tile, [64]);
    int t = static_cast<int>(threadIdx.x);
    int *row = tile;
    row[right ? t : t - 1] = t;
    __syncthreads();
    out[t] = tile[t % 63];
}

__global__ void dynamic_outside(int *out, bool right) {
    SIMT_SHARED_DYNAMIC(int, tile);
    int t = static_cast<int>(threadIdx.x);
    tile[right ? t : t + 1] = t;
    __syncthreads();
    out[t] = tile[63 - t / 2];
}

__global__ void read_unwritten(int *out, bool right) {
    SIMT_SHARED(int, tile, [64]);
    int t = static_cast<int>(threadIdx.x);
    if (right || t != 5) {
        tile[t] = t;
    }
    __syncthreads();
    out[t] = tile[63 - t];
}

__global__ void copy_struct(float4 *out, bool right) {
    SIMT_SHARED(float4, tile, [64]);
    int t = static_cast<int>(threadIdx.x);
    tile[t] = out[t];
    if (right) {
        __syncthreads();
    }
    out[t] = tile[t ^ 32];
}

__global__ void endless(int *out, bool right) {
    SIMT_SHARED(int, flag, );
    volatile int *watched = &flag;
    *watched = right ? 1 : 0;
    while (*watched == 0) {
    }
    out[threadIdx.x] = *watched;
}

__global__ void endless_votes(int *out, bool right) {
    while (!__any_sync(0xFFFFFFFFu, right)) {
    }
    out[threadIdx.x] = 1;
}

__global__ void blocks_collide(int *out, bool right) {
    if (threadIdx.x == 0) {
        out[right ? blockIdx.x : 0] = static_cast<int>(blockIdx.x);
    }
}

__global__ void neighbours_collide(int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    out[t] = t;
    if (right) {
        __syncthreads();
    }
    int seen = out[(t + 1) % 64];
    __syncthreads();
    out[t] = seen;
}

__global__ void atomic_and_plain(int *out, bool right) {
    if (right || threadIdx.x != 7) {
        atomicAdd(out, 1);
    } else {
        out[0] += 1;
    }
}

/* The block that is done last adds up what all blocks wrote. */
__global__ void hand_over(int *partial, int *done, int *sum, HandOver how) {
    SIMT_SHARED(bool, last, );
    unsigned t = threadIdx.x;
    if (how == HandOver::fence_too_early) {
        __threadfence();
    }
    partial[blockIdx.x * blockDim.x + t] = static_cast<int>(t + blockIdx.x);
    if (how == HandOver::warps_fence) {
        __syncwarp();
    }
    if (how == HandOver::all_fence || (how == HandOver::warps_fence && t % 32 == 0)) {
        __threadfence();
    }
    if (how != HandOver::no_barrier) {
        __syncthreads();
    }
    if (how == HandOver::another_fences) {
        if (t == 37) {
            __threadfence();
        }
        __syncthreads();
    }
    if (t == 0) {
        if (how == HandOver::one_fences || how == HandOver::no_barrier) {
            __threadfence();
        }
        last = how == HandOver::no_atomic ? blockIdx.x == gridDim.x - 1
                                          : atomicAdd(done, 1) == static_cast<int>(gridDim.x) - 1;
    }
    __syncthreads();
    if (last) {
        sum[t] = 0;
        for (unsigned i = 0; i < gridDim.x; i++) {
            sum[t] += partial[i * blockDim.x + t];
        }
        if (t == 0) {
            *done = 0;
        }
    }
}

__global__ void global_outside(const int *in, int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    out[t] = in[right ? t : t + 1];
}

__global__ void writes_constant(int *in, int *out, bool right) {
    int t = static_cast<int>(threadIdx.x);
    (right ? out : in)[t] = t;
}

__global__ void crooked_copy(const float *in, float *out, bool right) {
    SIMT_SHARED(float, tile, [64]);
    if (threadIdx.x == 0) {
        simt::cp_async<16>(&tile[right ? 4 : 2], in);
        simt::cp_async_wait_all();
        out[0] = tile[right ? 4 : 2];
    }
}

/* Four numbers at once, from the second of them on. */
__global__ void crooked_vector(const float *in, float *out, bool right) {
    if (threadIdx.x == 0) {
        const float4 *four = reinterpret_cast<const float4 *>(in + (right ? 4 : 1));
        out[0] = four->x + four->w;
    }
}

} // namespace KERNELS
