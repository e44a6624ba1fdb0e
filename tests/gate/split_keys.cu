/* SPDX-License-Identifier: Apache-2.0 */
/* Paged decoding in bfloat16, in one launch: the keys of a row are split over blocks, and the block
 * that is done last merges what all of them have left in the workspace. */
#include <chunkproof/kernel.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#define THREADS 64
#define SPLIT   64 /* keys of a block: at most one for each thread */

/* A row and head. */
struct place {
    int row, head, kv_head, s, n_keys, n_splits;
    size_t number;
};

__device__ static place place_of(const cp_kernel_call &call, int row, int head) {
    place p = {row, head, head / (call.n_heads / call.n_kv_heads), 0, 0, 0, 0};
    while (call.query_begin[p.s + 1] <= row) {
        p.s++;
    }
    p.n_keys = max(call.n_tokens[p.s] - (call.query_begin[p.s + 1] - 1 - row), 0);
    p.n_splits = max((p.n_keys + SPLIT - 1) / SPLIT, 1);
    p.number = (size_t)row * call.n_heads + head;
    return p;
}

__device__ static float element(const cp_kernel_call &call, const place &p, const void *array,
                                long long chunk_step, long long head_step, long long slot_step,
                                int key, int i) {
    int chunk = call.table[(long long)p.s * call.table_width + key / call.chunk_size];
    return __bfloat162float(
        ((const __nv_bfloat16 *)array)[chunk * chunk_step + p.kv_head * head_step +
                                       key % call.chunk_size * slot_step + i]);
}

__device__ static float score_of(const cp_kernel_call &call, const place &p, int key) {
    const __nv_bfloat16 *q =
        (const __nv_bfloat16 *)call.q + p.row * call.q_row + p.head * call.q_head;
    float dot = 0.0f;
    for (int i = 0; i < call.head_dim; i++) {
        dot += __bfloat162float(q[i]) *
               element(call, p, call.k, call.k_chunk, call.k_head, call.k_slot, key, i);
    }
    return dot * (float)call.scale;
}

/* m, n and o[d] of a split. */
__device__ static float *partial_of(const cp_kernel_call &call, float *partials, size_t most_splits,
                                    const place &p, int split) {
    return partials + (p.number * most_splits + split) * (call.head_dim + 2);
}

__device__ static void merge(const cp_kernel_call &call, const place &p, const float *partial) {
    int d = call.head_dim;
    float m = -INFINITY, n = 0.0f;
    for (int x = 0; x < p.n_splits; x++) {
        m = fmaxf(m, partial[x * (d + 2)]);
    }
    for (int x = 0; x < p.n_splits; x++) {
        n += p.n_keys > 0 ? partial[x * (d + 2) + 1] * expf(partial[x * (d + 2)] - m) : 0.0f;
    }
    for (int i = threadIdx.x; i < d; i += THREADS) {
        float o = 0.0f;
        for (int x = 0; x < p.n_splits; x++) {
            o +=
                p.n_keys > 0 ? partial[x * (d + 2) + 2 + i] * expf(partial[x * (d + 2)] - m) : 0.0f;
        }
        ((__nv_bfloat16 *)call.out)[p.row * call.out_row + p.head * call.out_head + i] =
            __float2bfloat16(p.n_keys > 0 ? o / n : 0.0f);
    }
    if (threadIdx.x == 0 && call.lse != nullptr) {
        ((float *)call.lse)[p.row * call.lse_row + p.head * call.lse_head] = m + logf(n);
    }
}

__global__ void attend_split(cp_kernel_call call, unsigned *done, float *partials,
                             size_t most_splits) {
    __shared__ float score[SPLIT];
    __shared__ bool last;
    place p = place_of(call, blockIdx.x, blockIdx.y);
    int split = blockIdx.z, first = split * SPLIT, t = threadIdx.x;
    if (split >= p.n_splits) {
        return;
    }
    int keys = min(SPLIT, p.n_keys - first);
    if (t < keys) {
        score[t] = score_of(call, p, first + t);
    }
    __syncthreads();
    float *mine = partial_of(call, partials, most_splits, p, split), m = -INFINITY, n = 0.0f;
    for (int j = 0; j < keys; j++) {
        m = fmaxf(m, score[j]);
    }
    for (int i = t; i < call.head_dim; i += THREADS) {
        float o = 0.0f;
        for (int j = 0; j < keys; j++) {
            o += expf(score[j] - m) *
                 element(call, p, call.v, call.v_chunk, call.v_head, call.v_slot, first + j, i);
        }
        mine[2 + i] = o;
    }
    for (int j = 0; j < keys; j++) {
        n += expf(score[j] - m);
    }
    if (t == 0) {
        mine[0] = m;
        mine[1] = n;
    }
    __syncthreads();
    if (t == 0) {
        __threadfence(); /* what the block wrote, before its number */
        last = atomicAdd(&done[p.number], 1u) == (unsigned)p.n_splits - 1;
    }
    __syncthreads();
    if (last) {
        merge(call, p, partial_of(call, partials, most_splits, p, 0));
    }
}

static size_t most_splits_of(const cp_kernel_call *call) {
    size_t keys = (size_t)call->table_width * call->chunk_size;
    return keys > SPLIT ? (keys + SPLIT - 1) / SPLIT : 1;
}

/* A counter for each row and head, and the partial results. */
static size_t workspace(const cp_kernel_call *call) {
    size_t rows = (size_t)call->n_rows * call->n_heads;
    return rows * (sizeof(unsigned) + most_splits_of(call) * (call->head_dim + 2) * sizeof(float));
}

static int attend(const cp_kernel_call *call) {
    size_t rows = (size_t)call->n_rows * call->n_heads, splits = most_splits_of(call);
    unsigned *done = (unsigned *)call->workspace;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (rows == 0) {
        return 0;
    }
    if (cudaMemsetAsync(done, 0, rows * sizeof *done, stream) != cudaSuccess) {
        return 1;
    }
    attend_split<<<dim3(call->n_rows, call->n_heads, splits), THREADS, 0, stream>>>(
        *call, done, (float *)(done + rows), splits);
    return cudaGetLastError() != cudaSuccess;
}

static struct cp_kernel describe() {
    struct cp_kernel kernel = {};
    kernel.abi = CP_KERNEL_ABI;
    kernel.name = "split keys, CUDA";
    kernel.memory = CP_DEVICE_MEMORY;
    kernel.q_type = kernel.kv_type = kernel.out_type = CP_BF16;
    kernel.lse_type = CP_FP32;
    kernel.arithmetic.score = kernel.arithmetic.values = CP_SUM_FP32;
    kernel.arithmetic.weights = kernel.arithmetic.partials = CP_FP32;
    kernel.arithmetic.exp_error = 0x1p-22;
    kernel.arithmetic.step = SPLIT;
    kernel.workspace = workspace;
    kernel.attend = attend;
    return kernel;
}

extern "C" const struct cp_kernel cp_kernel = describe();
