/* SPDX-License-Identifier: Apache-2.0 */
/* Splits of a long sequence, merged in plain CUDA: a block for each row and head. A warp finds the
 * log-sum-exp of all splits by shuffles, and leaves the weights in shared memory; then each thread
 * adds up every 64th number. NO_BARRIER spoils it: the weights are read before they are there. */
#include <chunkproof/merge_kernel.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define ALL_LANES 0xFFFFFFFFu
#define THREADS   64
#define MOST      128 /* splits */

__device__ static float largest_of_warp(float x) {
    for (int other = 16; other > 0; other /= 2) {
        x = fmaxf(x, __shfl_xor_sync(ALL_LANES, x, other));
    }
    return x;
}

__device__ static float sum_of_warp(float x) {
    for (int other = 16; other > 0; other /= 2) {
        x += __shfl_xor_sync(ALL_LANES, x, other);
    }
    return x;
}

__global__ void merge_row(cp_merge_call call) {
    __shared__ float weight[MOST];
    int row = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
    const float *l = (const float *)call.l + row * call.l_row + head * call.l_head;
    const float *o = (const float *)call.o + row * call.o_row + head * call.o_head;
    if (t < 32) {
        float m = -INFINITY, n = 0.0f;
        for (int split = t; split < call.n_parts; split += 32) {
            m = fmaxf(m, l[split * call.l_part]);
        }
        m = largest_of_warp(m);
        for (int split = t; split < call.n_parts && m != -INFINITY; split += 32) {
            n += expf(l[split * call.l_part] - m);
        }
        n = sum_of_warp(n);
        for (int split = t; split < call.n_parts; split += 32) {
            weight[split] = m != -INFINITY ? expf(l[split * call.l_part] - m) / n : 0.0f;
        }
        if (t == 0 && call.lse != nullptr) {
            ((float *)call.lse)[row * call.lse_row + head * call.lse_head] =
                m != -INFINITY ? m + logf(n) : -INFINITY;
        }
    }
#ifndef NO_BARRIER
    __syncthreads();
#endif
    for (int i = t; i < call.head_dim; i += THREADS) {
        float sum = 0.0f;
        for (int split = 0; split < call.n_parts; split++) {
            if (weight[split] > 0.0f) {
                sum += weight[split] * o[split * call.o_part + i];
            }
        }
        ((__half *)call.out)[row * call.out_row + head * call.out_head + i] = __float2half_rn(sum);
    }
}

static int merge(const cp_merge_call *call) {
    dim3 grid(call->n_rows, call->n_heads);
    merge_row<<<grid, THREADS, 0, (cudaStream_t)call->stream>>>(*call);
    return cudaGetLastError() != cudaSuccess;
}

static struct cp_merge_kernel describe() {
    struct cp_merge_kernel kernel = {};
    kernel.abi = CP_MERGE_ABI;
    kernel.name = "merging warps, CUDA";
    kernel.memory = CP_DEVICE_MEMORY;
    kernel.o_type = kernel.l_type = CP_FP32;
    kernel.most_parts = MOST;
    kernel.arithmetic.way = CP_MERGING_AT_ONCE;
    kernel.arithmetic.weights = kernel.arithmetic.values = kernel.arithmetic.partials = CP_FP32;
    kernel.arithmetic.out_type = CP_FP16;
    kernel.arithmetic.lse_type = CP_FP32;
    kernel.arithmetic.exp_error = 0x1p-22;
    kernel.arithmetic.log_error = 0x1p-22;
    kernel.arithmetic.div_error = 0x1p-24;
    kernel.merge = merge;
    return kernel;
}

extern "C" const struct cp_merge_kernel cp_merge_kernel = describe();
