/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions of a context, reduced in plain CUDA as in paged attention: a block of four warps for
 * each row and head. Parts are given by a maximum, a sum and an output (MERGING-12). The maxima are
 * kept in shared memory, then the rescaled sums; then each thread adds up every 128th number. */
#include <chunkproof/merge_kernel.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define ALL_LANES 0xFFFFFFFFu
#define THREADS   128
#define WARPS     (THREADS / 32)
#define MOST      512 /* partitions */

struct largest {
    __device__ static float of(float a, float b) {
        return fmaxf(a, b);
    }
    __device__ static float none() {
        return -INFINITY;
    }
};

struct total {
    __device__ static float of(float a, float b) {
        return a + b;
    }
    __device__ static float none() {
        return 0.0f;
    }
};

/* Of all threads of the block, for each of them; `room` is free before and behind. */
template <class Of> __device__ static float of_block(float x, float *room) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int other = 16; other > 0; other /= 2) {
        x = Of::of(x, __shfl_xor_sync(ALL_LANES, x, other));
    }
    if (lane == 0) {
        room[warp] = x;
    }
    __syncthreads();
    x = lane < WARPS ? room[lane] : Of::none();
    for (int other = WARPS / 2; other > 0; other /= 2) {
        x = Of::of(x, __shfl_xor_sync(ALL_LANES, x, other));
    }
    x = __shfl_sync(ALL_LANES, x, 0);
    __syncthreads();
    return x;
}

__global__ void reduce(cp_merge_call call) {
    __shared__ float weight[MOST], room[WARPS];
    int row = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
    int first = call.part_begin[row], parts = call.part_begin[row + 1] - first;
    const float *m = (const float *)call.l + first * call.l_part + head * call.l_head;
    const float *n = (const float *)call.n + first * call.l_part + head * call.l_head;
    const __half *o = (const __half *)call.o + first * call.o_part + head * call.o_head;
    __half *out = (__half *)call.out + row * call.out_row + head * call.out_head;
    float most = -INFINITY, sum = 0.0f;
    for (int i = t; i < parts; i += THREADS) {
        most = fmaxf(most, m[i * call.l_part]);
    }
    most = of_block<largest>(most, room);
    for (int i = t; i < parts; i += THREADS) {
        float times = n[i * call.l_part];
        weight[i] = times > 0.0f ? times * expf(m[i * call.l_part] - most) : 0.0f;
        sum += weight[i];
    }
    sum = of_block<total>(sum, room);
    float over = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int e = t; e < call.head_dim; e += THREADS) {
        float x = 0.0f;
        for (int i = 0; i < parts; i++) {
            if (weight[i] > 0.0f) {
                x += __half2float(o[i * call.o_part + e]) * weight[i] * over;
            }
        }
        out[e] = __float2half_rn(x);
    }
}

static int merge(const cp_merge_call *call) {
    dim3 grid(call->n_rows, call->n_heads);
    reduce<<<grid, THREADS, 0, (cudaStream_t)call->stream>>>(*call);
    return cudaGetLastError() != cudaSuccess;
}

static struct cp_merge_kernel describe() {
    struct cp_merge_kernel kernel = {};
    kernel.abi = CP_MERGE_ABI;
    kernel.name = "reduced partitions, CUDA";
    kernel.memory = CP_DEVICE_MEMORY;
    kernel.o_type = CP_FP16;
    kernel.l_type = CP_FP32;
    kernel.form = CP_FORM_SUMS;
    kernel.parts = CP_PARTS_BY_ROW;
    kernel.lse = CP_LSE_NEVER;
    kernel.most_parts = MOST;
    kernel.arithmetic.way = CP_MERGING_AT_ONCE;
    kernel.arithmetic.weights = kernel.arithmetic.values = kernel.arithmetic.partials = CP_FP32;
    kernel.arithmetic.out_type = CP_FP16;
    kernel.arithmetic.lse_type = CP_FP32;
    kernel.arithmetic.exp_error = 0x1p-22;
    kernel.arithmetic.log_error = 0x1p-22;
    kernel.arithmetic.div_error = 0x1p-22; /* 1 / sum, and a product */
    kernel.merge = merge;
    return kernel;
}

extern "C" const struct cp_merge_kernel cp_merge_kernel = describe();
