/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of 16 in device memory, as an engine calls its kernel: a block table, lengths, and where
 * each sequence's rows begin. K and V are the halves of one tensor, [2][page][slot][K/V head][d]
 * (CONV-11, CONV-12). A warp for each query row and head; its launcher reads the lists of the host
 * for the number of rows. */
#include <chunkproof/kernel.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define ALL_LANES 0xFFFFFFFFu
#define PAGE      16

/* What a launcher hands over. */
struct cache {
    const __half *kv; /* [2][page][slot][head][d] */
    long long page, head, slot, v;
    const int *block_table; /* [b][width] */
    int width;
};

__global__ void attend_row(cp_kernel_call call, struct cache cache) {
    extern __shared__ float o[]; /* [d] */
    int row = blockIdx.x, head = blockIdx.y, lane = threadIdx.x, s = 0, d = call.head_dim;
    while (call.query_begin[s + 1] <= row) {
        s++;
    }
    int n_keys = call.n_tokens[s] - (call.query_begin[s + 1] - 1 - row);
    int kv_head = head / (call.n_heads / call.n_kv_heads);
    const int *blocks = cache.block_table + (long long)s * cache.width;
    const __half *q = (const __half *)call.q + row * call.q_row + head * call.q_head;
    __half *out = (__half *)call.out + row * call.out_row + head * call.out_head;
    float m = -INFINITY, n = 0.0f;
    for (int i = lane; i < d; i += 32) {
        o[i] = 0.0f;
    }
    for (int j = 0; j < n_keys; j++) {
        const __half *k =
            cache.kv + blocks[j / PAGE] * cache.page + kv_head * cache.head + j % PAGE * cache.slot;
        float dot = 0.0f;
        for (int i = lane; i < d; i += 32) {
            dot += __half2float(q[i]) * __half2float(k[i]);
        }
        for (int other = 16; other > 0; other /= 2) {
            dot += __shfl_xor_sync(ALL_LANES, dot, other);
        }
        float score = dot * (float)call.scale, largest = fmaxf(m, score);
        float weight = expf(score - largest), rescale = expf(m - largest);
        n = n * rescale + weight;
        for (int i = lane; i < d; i += 32) {
            o[i] = o[i] * rescale + weight * __half2float(k[cache.v + i]);
        }
        m = largest;
    }
    for (int i = lane; i < d; i += 32) {
        out[i] = __float2half_rn(n_keys > 0 ? o[i] / n : 0.0f);
    }
}

static int attend(const cp_kernel_call *call) {
    int rows = call->on_host->query_begin[call->n_sequences];
    struct cache cache = {
        (const __half *)call->k, call->k_chunk,    call->k_head,          call->k_slot,
        call->v_offset,          call->page_table, call->page_table_width};
    if (rows > 0) {
        attend_row<<<dim3(rows, call->n_heads), 32, call->head_dim * sizeof(float),
                     (cudaStream_t)call->stream>>>(*call, cache);
    }
    return cudaGetLastError() != cudaSuccess;
}

static struct cp_kernel describe() {
    struct cp_kernel kernel = {};
    kernel.abi = CP_KERNEL_ABI;
    kernel.name = "page warps, CUDA";
    kernel.memory = CP_DEVICE_MEMORY;
    kernel.q_type = kernel.kv_type = kernel.out_type = CP_FP16;
    kernel.lse_type = CP_NO_LSE;
    kernel.layout.pages = CP_PAGES_OWN;
    kernel.layout.page_size = PAGE;
    kernel.layout.order = CP_ORDER_NHD;
    kernel.layout.tensors = CP_TENSORS_HALVES;
    kernel.arithmetic.score = kernel.arithmetic.values = CP_SUM_FP32;
    kernel.arithmetic.weights = kernel.arithmetic.partials = CP_FP32;
    kernel.arithmetic.exp_error = 0x1p-22; /* of expf() */
    kernel.arithmetic.step = 1;
    kernel.attend = attend;
    return kernel;
}

extern "C" const struct cp_kernel cp_kernel = describe();
