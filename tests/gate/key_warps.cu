/* SPDX-License-Identifier: Apache-2.0 */
/* Paged decoding as serving kernels do it: a block per row and head, whose warps have keys of their
 * own, eight lanes to a key, with loads of 16 bytes, sums by __shfl_xor_sync(), weights as powers
 * of 2, and a merge at the end. */
#include <chunkproof/kernel.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int WARPS = 4;
constexpr int LANES_PER_KEY = 8;           /* each with 8 halves = 16 bytes at a time */
constexpr int GROUPS = 32 / LANES_PER_KEY; /* keys that a warp has in flight */
constexpr int STEPS = 2;                   /* keys per group and tile */
constexpr int TILE = GROUPS * STEPS;       /* keys per warp and tile */
constexpr int MAX_D = 256;
constexpr int VECS = MAX_D / (8 * LANES_PER_KEY); /* 16-byte vectors of a row per lane, at most */
constexpr unsigned FULL = 0xFFFFFFFFu;
constexpr float LOG2E = 1.44269504088896340736f, LN2 = 0.69314718055994530942f;

struct Shared {
    float m[WARPS], n[WARPS];
};

/* Halves are read as what they are not, a uint4, and the other way round: a compiler for GPUs
 * allows it. */
__device__ __forceinline__ void load8(float (&x)[8], const __half *from) {
    uint4 raw = *reinterpret_cast<const uint4 *>(from);
    const __half2 *h = reinterpret_cast<const __half2 *>(&raw);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float2 f = __half22float2(h[i]);
        x[2 * i] = f.x;
        x[2 * i + 1] = f.y;
    }
}

__global__ void __launch_bounds__(32 * WARPS) paged_decode(cp_kernel_call call) {
    extern __shared__ float shared_o[]; /* [WARPS][d] */
    __shared__ Shared sh;
    const int row = blockIdx.x, head = blockIdx.y;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int group = lane / LANES_PER_KEY, sub = lane % LANES_PER_KEY;
    const int d = call.head_dim, c = call.chunk_size;
    int s = 0;
    while (call.query_begin[s + 1] <= row) {
        s++;
    }
    const int n_keys = call.n_tokens[s] - (call.query_begin[s + 1] - 1 - row);
    const int kv_head = head / (call.n_heads / call.n_kv_heads);
    const int *table = call.table + (long long)s * call.table_width;
    const __half *q = (const __half *)call.q + row * call.q_row + head * call.q_head;
    const float scale_log2 = (float)call.scale * LOG2E;

    float qr[VECS][8], o[VECS][8];
#pragma unroll
    for (int v = 0; v < VECS; v++) {
        const int at = (v * LANES_PER_KEY + sub) * 8;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            qr[v][i] = 0.0f;
            o[v][i] = 0.0f;
        }
        if (at < d) {
            load8(qr[v], q + at);
        }
    }
    float m = -INFINITY, n = 0.0f;

    for (int tile = warp * TILE; tile < n_keys; tile += WARPS * TILE) {
        float score[STEPS];
        float top = m;
#pragma unroll
        for (int t = 0; t < STEPS; t++) {
            const int j = tile + t * GROUPS + group;
            float dot = 0.0f;
            if (j < n_keys) {
                const int chunk = table[j / c], slot = j % c;
                const __half *k = (const __half *)call.k + chunk * call.k_chunk +
                                  kv_head * call.k_head + slot * call.k_slot;
#pragma unroll
                for (int v = 0; v < VECS; v++) {
                    const int at = (v * LANES_PER_KEY + sub) * 8;
                    if (at < d) {
                        float x[8];
                        load8(x, k + at);
#pragma unroll
                        for (int i = 0; i < 8; i++) {
                            dot += qr[v][i] * x[i];
                        }
                    }
                }
            }
            for (int mask = LANES_PER_KEY / 2; mask > 0; mask /= 2) {
                dot += __shfl_xor_sync(FULL, dot, mask);
            }
            score[t] = j < n_keys ? dot * scale_log2 : -INFINITY;
            top = fmaxf(top, score[t]);
        }
        for (int mask = 16; mask >= LANES_PER_KEY; mask /= 2) {
            top = fmaxf(top, __shfl_xor_sync(FULL, top, mask));
        }
        const float rescale = exp2f(m - top);
        m = top;
        n *= rescale;
#pragma unroll
        for (int v = 0; v < VECS; v++) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
                o[v][i] *= rescale;
            }
        }
#pragma unroll
        for (int t = 0; t < STEPS; t++) {
            const int j = tile + t * GROUPS + group;
            if (j < n_keys) {
                const int chunk = table[j / c], slot = j % c;
                const __half *val = (const __half *)call.v + chunk * call.v_chunk +
                                    kv_head * call.v_head + slot * call.v_slot;
                const float p = exp2f(score[t] - m);
                n += p;
#pragma unroll
                for (int v = 0; v < VECS; v++) {
                    const int at = (v * LANES_PER_KEY + sub) * 8;
                    if (at < d) {
                        float x[8];
                        load8(x, val + at);
#pragma unroll
                        for (int i = 0; i < 8; i++) {
                            o[v][i] += p * x[i];
                        }
                    }
                }
            }
        }
    }

    /* The groups of a warp: they have the same m, each its own keys. */
    for (int mask = 16; mask >= LANES_PER_KEY; mask /= 2) {
        n += __shfl_xor_sync(FULL, n, mask);
#pragma unroll
        for (int v = 0; v < VECS; v++) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
                o[v][i] += __shfl_xor_sync(FULL, o[v][i], mask);
            }
        }
    }

    /* Partial results of the warps. */
    if (lane == 0) {
        sh.m[warp] = m;
        sh.n[warp] = n;
    }
    if (group == 0) {
#pragma unroll
        for (int v = 0; v < VECS; v++) {
            const int at = (v * LANES_PER_KEY + sub) * 8;
            if (at < d) {
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    shared_o[warp * d + at + i] = o[v][i];
                }
            }
        }
    }
    __syncthreads();

    float all_m = -INFINITY, all_n = 0.0f, factor[WARPS];
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        all_m = fmaxf(all_m, sh.m[w]);
    }
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        factor[w] = sh.m[w] == -INFINITY ? 0.0f : exp2f(sh.m[w] - all_m);
        all_n += factor[w] * sh.n[w];
    }
    __half *out = (__half *)call.out + row * call.out_row + head * call.out_head;
    for (int i = threadIdx.x; i < d; i += 32 * WARPS) {
        float sum = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            sum += factor[w] * shared_o[w * d + i];
        }
        out[i] = __float2half_rn(n_keys > 0 ? sum / all_n : 0.0f);
    }
    if (call.lse != nullptr && threadIdx.x == 0) {
        ((float *)call.lse)[row * call.lse_row + head * call.lse_head] =
            n_keys > 0 ? (all_m + log2f(all_n)) * LN2 : -INFINITY;
    }
}

static const char *refuses(const cp_kernel_call *call) {
    if (call->head_dim % 8 != 0 || call->head_dim > MAX_D) {
        return "head_dim must be a multiple of 8, up to 256";
    }
    if ((call->q_row | call->q_head | call->k_chunk | call->k_head | call->k_slot | call->v_chunk |
         call->v_head | call->v_slot) %
            8 !=
        0) {
        return "strides of Q, K and V must be multiples of 8";
    }
    return nullptr;
}

static int attend(const cp_kernel_call *call) {
    if (call->n_rows > 0) {
        dim3 grid(call->n_rows, call->n_heads);
        paged_decode<<<grid, 32 * WARPS, WARPS * call->head_dim * sizeof(float),
                       (cudaStream_t)call->stream>>>(*call);
    }
    return cudaGetLastError() != cudaSuccess;
}

static struct cp_kernel describe() {
    struct cp_kernel kernel = {};
    kernel.abi = CP_KERNEL_ABI;
    kernel.name = "paged decode, a block per row and head";
    kernel.memory = CP_DEVICE_MEMORY;
    kernel.q_type = kernel.kv_type = kernel.out_type = CP_FP16;
    kernel.lse_type = CP_FP32;
    kernel.arithmetic.score = kernel.arithmetic.values = CP_SUM_FP32;
    kernel.arithmetic.weights = kernel.arithmetic.partials = CP_FP32;
    kernel.arithmetic.in_bits = 1;
    kernel.arithmetic.exp_error = 0x1p-22;
    kernel.arithmetic.step = TILE;
    kernel.refuses = refuses;
    kernel.attend = attend;
    return kernel;
}

extern "C" const struct cp_kernel cp_kernel = describe();
