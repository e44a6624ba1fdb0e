/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA kernel for a cache of keys without positions (GATE-14): paged decoding in binary16, a warp
 * for each query row and head. A lane rotates the pairs l, l + 32, ... of each key as it reads
 * them. */
#include <chunkproof/kernel.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define ALL_LANES 0xFFFFFFFFu

/* All that it needs is in the call, whose arrays are on the device. Lane l has the elements l, l +
 * 32, ... of a row. */
__global__ void attend_row(cp_kernel_call call) {
    extern __shared__ float o[]; /* [d]: the sum of weight * v so far */
    int row = blockIdx.x, head = blockIdx.y, lane = threadIdx.x, s = 0;
    while (call.query_begin[s + 1] <= row) {
        s++;
    }
    /* The last query row of a sequence sees all its keys, the row before it all but one, ... */
    int n_keys = call.n_tokens[s] - (call.query_begin[s + 1] - 1 - row);
    int kv_head = head / (call.n_heads / call.n_kv_heads), half = call.rotary_dim / 2;
    const int *table = call.table + (long long)s * call.table_width;
    const __half *q = (const __half *)call.q + row * call.q_row + head * call.q_head;
    __half *out = (__half *)call.out + row * call.out_row + head * call.out_head;
    float m = -INFINITY, n = 0.0f;
    for (int i = lane; i < call.head_dim; i += 32) {
        o[i] = 0.0f;
    }
    for (int j = 0; j < n_keys; j++) {
        int chunk = table[j / call.chunk_size], slot = j % call.chunk_size;
        const __half *k = (const __half *)call.k + chunk * call.k_chunk + kv_head * call.k_head +
                          slot * call.k_slot;
        const __half *v = (const __half *)call.v + chunk * call.v_chunk + kv_head * call.v_head +
                          slot * call.v_slot;
        const float *turn = call.rotation + (long long)j * call.rotary_dim;
        float dot = 0.0f;
        for (int i = lane; i < half; i += 32) {
            float x = __half2float(k[i]), y = __half2float(k[half + i]);
            float c = turn[i], s = turn[half + i];
            dot += __half2float(q[i]) * (c * x - s * y);
            dot += __half2float(q[half + i]) * (s * x + c * y);
        }
        for (int i = call.rotary_dim + lane; i < call.head_dim; i += 32) {
            dot += __half2float(q[i]) * __half2float(k[i]);
        }
        for (int other = 16; other > 0; other /= 2) {
            dot += __shfl_xor_sync(ALL_LANES, dot, other);
        }
        float score = dot * (float)call.scale, largest = fmaxf(m, score);
        float weight = expf(score - largest), rescale = expf(m - largest);
        n = n * rescale + weight;
        for (int i = lane; i < call.head_dim; i += 32) {
            o[i] = o[i] * rescale + weight * __half2float(v[i]);
        }
        m = largest;
    }
    for (int i = lane; i < call.head_dim; i += 32) {
        out[i] =
            __float2half_rn(n_keys > 0 ? o[i] / n : 0.0f); /* a row that sees no key gives zeros */
    }
}

static int attend(const cp_kernel_call *call) {
    dim3 grid(call->n_rows, call->n_heads);
    if (call->n_rows > 0) {
        attend_row<<<grid, 32, call->head_dim * sizeof(float), (cudaStream_t)call->stream>>>(*call);
    }
    return cudaGetLastError() != cudaSuccess;
}

static struct cp_kernel describe() {
    struct cp_kernel kernel = {};
    kernel.abi = CP_KERNEL_ABI;
    kernel.name = "raw keys, CUDA";
    kernel.keys = CP_KEYS_RAW;
    kernel.pairs = CP_PAIRS_HALVES;
    kernel.arithmetic.rotated = CP_FP32;
    kernel.memory = CP_DEVICE_MEMORY;
    kernel.q_type = kernel.kv_type = kernel.out_type = CP_FP16;
    kernel.lse_type = CP_NO_LSE;
    kernel.arithmetic.score = kernel.arithmetic.values = CP_SUM_FP32;
    kernel.arithmetic.weights = kernel.arithmetic.partials = CP_FP32;
    kernel.arithmetic.exp_error = 0x1p-22; /* of expf() */
    kernel.arithmetic.step = 1;            /* the maximum may change with each key */
    kernel.attend = attend;
    return kernel;
}

extern "C" const struct cp_kernel cp_kernel = describe();
