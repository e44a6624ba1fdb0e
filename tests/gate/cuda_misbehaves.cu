/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA kernel for tests of the gate: it computes nothing, writes zeros, and does what MISBEHAVE
 * says. */
#include <cstdlib>
#include <cstring>

#include "chunkproof/kernel.h"
#include "kernels/simt/cuda.h"
#include "kernels/simt/host.h"

static const char *const words[] = {
    "zeros",       "reads-behind-k", "reads-before-q",  "writes-behind-out", "writes-k",
    "reads-freed", "races-shared",   "races-blocks",    "diverges",          "uninitialized",
    "endless",     "other-stream",   "too-much-shared", "host-reads-k",      "writes-workspace",
};
enum {
    ZEROS,
    READS_BEHIND_K,
    READS_BEFORE_Q,
    WRITES_BEHIND_OUT,
    WRITES_K,
    READS_FREED,
    RACES_SHARED,
    RACES_BLOCKS,
    DIVERGES,
    UNINITIALIZED,
    ENDLESS,
    OTHER_STREAM,
    TOO_MUCH_SHARED,
    HOST_READS_K,
    WRITES_WORKSPACE,
    WORDS
};

/* Sizes of arrays, in elements. */
struct sizes {
    long long k, out;
    const __half *freed;
};

__global__ void work(cp_kernel_call call, int what, sizes n) {
    SIMT_SHARED(volatile int, tile, [64]);
    const __half *q = static_cast<const __half *>(call.q), *k = static_cast<const __half *>(call.k);
    __half *out = static_cast<__half *>(call.out);
    volatile unsigned char *bytes = static_cast<unsigned char *>(call.workspace);
    int t = threadIdx.x, first = blockIdx.x == 0 && t == 0, sum = 0;
    if (what == RACES_SHARED) {
        tile[t] = t;
        sum = tile[63 - t]; /* no barrier before */
    } else if (what == UNINITIALIZED) {
        sum = tile[t]; /* nobody wrote it */
    } else if (what == DIVERGES) {
        if (t % 2 == 0) {
            __syncthreads();
        } else {
            __syncthreads(); /* another one */
        }
    } else if (what == RACES_BLOCKS && t == 0) {
        bytes[0] = 1;
    } else if (what == WRITES_WORKSPACE && first) {
        bytes[call.workspace_size] = 1;
    } else if (what == READS_BEHIND_K && first) {
        sum = __half_as_ushort(k[n.k]); /* behind k */
    } else if (what == READS_BEFORE_Q && first) {
        sum = __half_as_ushort(q[-1]);
    } else if (what == READS_FREED && first) {
        sum = __half_as_ushort(n.freed[0]);
    } else if (what == WRITES_BEHIND_OUT && first) {
        out[n.out] = q[0];
    } else if (what == WRITES_K && first) {
        const_cast<__half *>(k)[0] = q[0]; /* an input */
    }
    while (what == ENDLESS && bytes[1] != 0) {
        sum++;
    }
    for (long long i = blockIdx.x * blockDim.x + t; i < n.out; i += gridDim.x * blockDim.x) {
        out[i] = __float2half_rn(sum == 12345 ? 1.0f : 0.0f);
    }
}

static int word_of(const char *word) {
    for (int i = 0; word != nullptr && i < WORDS; i++) {
        if (std::strcmp(words[i], word) == 0) {
            return i;
        }
    }
    return ZEROS;
}

static int attend(const cp_kernel_call *call) {
    int what = word_of(std::getenv("MISBEHAVE"));
    sizes n = {call->capacity * call->k_chunk, call->n_rows * call->out_row, nullptr};
    cudaStream_t stream = static_cast<cudaStream_t>(call->stream);
    if (what == HOST_READS_K) {
        return *static_cast<const volatile unsigned char *>(call->k);
    }
    if (what == READS_FREED) {
        void *memory = nullptr;
        (void)cudaMalloc(&memory, 1);
        (void)cudaFree(memory);
        n.freed = static_cast<const __half *>(memory);
    }
    std::size_t shared = what == TOO_MUCH_SHARED ? 300 * 1024 : 0;
    cudaError_t error = simt::launch_on(what == OTHER_STREAM ? nullptr : stream, dim3(2), dim3(64),
                                        shared, work, *call, what, n);
    return error == cudaSuccess ? 0 : 1;
}

static const char *refuses(const cp_kernel_call *call) {
    long long row = static_cast<long long>(call->n_heads) * call->head_dim;
    bool packed = call->out_head == call->head_dim && call->out_row == row;
    return packed ? nullptr : "it takes packed rows alone";
}

static std::size_t workspace(const cp_kernel_call *) {
    return 64;
}

static struct cp_kernel describe() {
    struct cp_kernel kernel = {};
    kernel.abi = CP_KERNEL_ABI;
    kernel.name = "misbehaves, CUDA";
    kernel.memory = CP_DEVICE_MEMORY;
    kernel.q_type = kernel.kv_type = kernel.out_type = CP_FP16;
    kernel.lse_type = CP_NO_LSE;
    kernel.arithmetic.weights = kernel.arithmetic.partials = CP_FP32;
    kernel.arithmetic.exp_error = 0x1p-22;
    kernel.refuses = refuses;
    kernel.workspace = workspace;
    kernel.attend = attend;
    return kernel;
}

extern "C" const struct cp_kernel cp_kernel = describe();
