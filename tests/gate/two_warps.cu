/* SPDX-License-Identifier: Apache-2.0 */
/* Paged decoding in binary16 by two warps in plain CUDA, with a barrier wherever one warp reads
 * what the other wrote. NO_BARRIER and DIVERGE spoil it; the lines that a verdict must name then
 * have marks. */
#include <chunkproof/kernel.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define ALL_LANES 0xFFFFFFFFu
#define WARPS     2
#define TILE      32 /* keys */
#define MOST_DIM  128

__device__ static float sum_of_warp(float x) {
    for (int other = 16; other > 0; other /= 2) {
        x += __shfl_xor_sync(ALL_LANES, x, other);
    }
    return x;
}

/* Element i of a key or value, in its chunk. */
__device__ static float element(const cp_kernel_call &call, const void *array, long long chunk_step,
                                long long head_step, long long slot_step, int s, int j, int kv_head,
                                int i) {
    int chunk = call.table[(long long)s * call.table_width + j / call.chunk_size];
    return __half2float((
        (const __half *)
            array)[chunk * chunk_step + kv_head * head_step + j % call.chunk_size * slot_step + i]);
}

/* A block for each row and head: its warps take the scores of a tile in turn, and each thread every
 * 64th element. */
__global__ void attend_row(cp_kernel_call call) {
    __shared__ float q[MOST_DIM], o[MOST_DIM], score[TILE];
    int row = blockIdx.x, head = blockIdx.y, t = threadIdx.x, s = 0;
    int lane = t % 32, warp = t / 32, d = call.head_dim;
    while (call.query_begin[s + 1] <= row) {
        s++;
    }
    int n_keys = call.n_tokens[s] - (call.query_begin[s + 1] - 1 - row);
    int kv_head = head / (call.n_heads / call.n_kv_heads);
    float m = -INFINITY, n = 0.0f;
    for (int i = t; i < d; i += 32 * WARPS) {
        q[i] = __half2float(((const __half *)call.q)[row * call.q_row + head * call.q_head + i]);
        o[i] = 0.0f;
    }
    __syncthreads();
    for (int first = 0; first < n_keys; first += TILE) {
        int keys = min(TILE, n_keys - first);
        for (int j = warp; j < keys; j += WARPS) {
            float dot = 0.0f;
            for (int i = lane; i < d; i += 32) {
                dot += q[i] * element(call, call.k, call.k_chunk, call.k_head, call.k_slot, s,
                                      first + j, kv_head, i);
            }
            dot = sum_of_warp(dot);
            if (lane == 0) {
                score[j] = dot * (float)call.scale; /* the scores are written */
            }
        }
#ifndef NO_BARRIER
#ifdef DIVERGE
        if (lane < 16) {
            __syncthreads(); /* the lower half waits */
        } else {
            __syncthreads(); /* the upper half waits */
        }
#else
        __syncthreads();
#endif
#endif
        for (int j = 0; j < keys; j++) {
            float x = score[j]; /* the scores are read */
            float largest = fmaxf(m, x), weight = expf(x - largest), rescale = expf(m - largest);
            n = n * rescale + weight;
            for (int i = t; i < d; i += 32 * WARPS) {
                o[i] = o[i] * rescale + weight * element(call, call.v, call.v_chunk, call.v_head,
                                                         call.v_slot, s, first + j, kv_head, i);
            }
            m = largest;
        }
        __syncthreads();
    }
    for (int i = t; i < d; i += 32 * WARPS) {
        ((__half *)call.out)[row * call.out_row + head * call.out_head + i] =
            __float2half_rn(n_keys > 0 ? o[i] / n : 0.0f);
    }
}

static const char *refuses(const cp_kernel_call *call) {
    return call->head_dim > MOST_DIM ? "it has room for 128 numbers of a row" : nullptr;
}

static int attend(const cp_kernel_call *call) {
    dim3 grid(call->n_rows, call->n_heads);
    if (call->n_rows > 0) {
        attend_row<<<grid, 32 * WARPS, 0, (cudaStream_t)call->stream>>>(*call);
    }
    return cudaGetLastError() != cudaSuccess;
}

static struct cp_kernel describe() {
    struct cp_kernel kernel = {};
    kernel.abi = CP_KERNEL_ABI;
    kernel.name = "two warps, CUDA";
    kernel.memory = CP_DEVICE_MEMORY;
    kernel.q_type = kernel.kv_type = kernel.out_type = CP_FP16;
    kernel.lse_type = CP_NO_LSE;
    kernel.arithmetic.score = kernel.arithmetic.values = CP_SUM_FP32;
    kernel.arithmetic.weights = kernel.arithmetic.partials = CP_FP32;
    kernel.arithmetic.exp_error = 0x1p-22;
    kernel.arithmetic.step = 1; /* the maximum may change with each key */
    kernel.refuses = refuses;
    kernel.attend = attend;
    return kernel;
}

extern "C" const struct cp_kernel cp_kernel = describe();
