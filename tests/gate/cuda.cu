/* SPDX-License-Identifier: Apache-2.0 */
/* The project's own CUDA kernels, through their launcher (chunkproof/cuda.h): CHUNKPROOF_VERSION 1
 * to 3, in binary16, or with CUDA_bf16 in bfloat16; or with K and V of 8 bits, or with values of
 * another width than keys, as another macro says. */
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "chunkproof/cuda.h"
#include "chunkproof/kernel.h"
#include "kernels/queries.h"
#include "kernels/simt/host.h"
#include "kernels/widths.h"

static const int VERSION = CHUNKPROOF_VERSION;
#ifdef CUDA_bf16
static const int TYPE = CP_BF16;
#define KIND ", bfloat16"
static const cp_kernel_cache CACHE = {};
#elif defined(CUDA_e4m3)
static const int TYPE = CP_FP16;
#define KIND ", E4M3"
static const cp_kernel_cache CACHE = {CP_CACHE_E4M3, CP_CACHE_E4M3, CP_CACHE_SCALE_HEAD};
#elif defined(CUDA_int8)
static const int TYPE = CP_FP16;
#define KIND ", INT8"
static const cp_kernel_cache CACHE = {CP_CACHE_INT8, CP_CACHE_INT8, CP_CACHE_SCALE_TOKEN};
#elif defined(CUDA_mixed) /* in bfloat16 */
static const int TYPE = CP_BF16;
#define KIND ", E5M2 and E4M3"
static const cp_kernel_cache CACHE = {CP_CACHE_E5M2, CP_CACHE_E4M3, CP_CACHE_SCALE_TENSOR};
#elif defined(CUDA_tokens)
static const int TYPE = CP_BF16;
#define KIND ", INT8 and E5M2"
static const cp_kernel_cache CACHE = {CP_CACHE_INT8, CP_CACHE_E5M2, CP_CACHE_SCALE_TOKEN};
#elif defined(CUDA_widths)
#define WIDTHS CP_WIDTHS_ANY, CP_TENSORS_TWO
static const int TYPE = CP_FP16;
#define KIND   ", widths"
static const cp_kernel_cache CACHE = {};
#elif defined(CUDA_latent)
#define WIDTHS CP_WIDTHS_ANY, CP_TENSORS_KEYS
static const int TYPE = CP_FP16;
#define KIND   ", values in keys"
static const cp_kernel_cache CACHE = {};
#elif defined(CUDA_bflatent)
#define WIDTHS CP_WIDTHS_ANY, CP_TENSORS_KEYS
static const int TYPE = CP_BF16;
#define KIND   ", values in keys, bfloat16"
static const cp_kernel_cache CACHE = {};
#else
static const int TYPE = CP_FP16;
#define KIND ""
static const cp_kernel_cache CACHE = {};
#endif
#ifndef WIDTHS
#define WIDTHS CP_WIDTHS_EQUAL, CP_TENSORS_TWO
#endif
static const struct { int widths, tensors; } VALUES = {WIDTHS};
static const int CHUNKS_PER_TASK = 3;
static const std::size_t MOST_WORKSPACE = std::size_t{256} << 20;

/* ---- Sizes ---- */

/* A plan of runs may have a chunk of the pool in several descriptors and own runs, and each of its
 * runs may be a piece. */
static cp_cuda_limits limits_of(const cp_kernel_call *call) {
    const bool is_tree = call->plan == CP_PLANS_TREES;
    const int depth = std::max(call->table_width, 1);
    const long long runs =
        call->n_shared + 1LL * call->n_sequences * std::max(call->table_width, 1);
    return {call->n_sequences,
            std::max(call->n_rows, 1),
            is_tree ? call->capacity : static_cast<int>(std::min<long long>(runs, CP_MAX_CHUNKS)),
            depth,
            is_tree ? std::min(call->n_shared + 1, depth) : depth,
            call->n_heads,
            std::max(call->head_dim, call->value_dim),
            CHUNKS_PER_TASK};
}

/* Bytes of slopes in binary64, and of sinks. */
static std::size_t heads_bytes(const cp_kernel_call *call) {
    return static_cast<std::size_t>(call->n_heads) * sizeof(double);
}

static std::size_t table_bytes(const cp_kernel_call *call) {
    return heads_bytes(call) * static_cast<std::size_t>(call->n_biases);
}

/* Slopes, sinks and the table of biases lie at the end, behind the launcher's workspace. */
static std::size_t workspace(const cp_kernel_call *call) {
    const cp_cuda_limits limits = limits_of(call);
    std::size_t bytes = cp_cuda_workspace(&limits);
    return bytes == 0 ? 0 : (bytes + 7) / 8 * 8 + 2 * heads_bytes(call) + table_bytes(call);
}

/* Are there no kernels for its widths? Those of values that are as wide as keys have their own
 * kernels here. */
static bool has_other_widths(const cp_kernel_call *call) {
    bool has_tiles = false;
    chunkproof::with_widths(call->head_dim, call->value_dim, VALUES.tensors == CP_TENSORS_KEYS,
                            [&](auto) { has_tiles = true; });
    return !has_tiles;
}

static bool has_other_dimension(const cp_kernel_call *call) {
#define ONE(D) D,
    static const int dimensions[] = {CHUNKPROOF_HEAD_DIMS(ONE)};
#undef ONE
    const int *end = dimensions + sizeof dimensions / sizeof dimensions[0];
    return VERSION == 1 ? call->head_dim > 1024 : std::find(dimensions, end, call->head_dim) == end;
}

static const char *refuses(const cp_kernel_call *call) {
    const long long d = call->head_dim, d_v = call->value_dim, c = call->chunk_size;
    const long long row = call->n_heads * d, v_row = call->v_slot, h_kv = call->n_kv_heads;
    const bool any = VALUES.widths == CP_WIDTHS_ANY;
    double products = 1.0 * call->n_rows * row * d * call->table_width * c;
    if (VERSION == 1 && products > 6e6) {
        return "each element of the output has all scores computed anew: too slow for so many keys";
    }
    if (any ? has_other_widths(call) : has_other_dimension(call)) {
        return any ? "it is compiled for other widths" : "it is compiled for other head dimensions";
    }
    if (call->k_slot != d || call->k_head != c * d || call->k_chunk != h_kv * c * d ||
        (any ? v_row % 8 != 0 : v_row != d) || call->v_head != c * v_row ||
        call->v_chunk != h_kv * c * v_row) {
        return "K and V are to lie as POOL-7 says";
    }
    if (call->q_head != d || call->q_row != row || call->out_head != d_v ||
        call->out_row != call->n_heads * d_v || call->lse_head != 1 ||
        call->lse_row != call->n_heads) {
        return "rows are to lie one after the other, and so are their heads";
    }
    std::size_t bytes = workspace(call);
    return bytes == 0 || bytes > MOST_WORKSPACE ? "its partial results would be too large"
                                                : nullptr;
}

/* ---- The plan ---- */

static void fill_sequence(cp_plan_sequence &path, const cp_kernel_call &lists, int s) {
    const long long first = static_cast<long long>(s) * lists.table_width;
    path.n_tokens = lists.n_tokens[s];
    path.n_shared = lists.n_shared_chunks[s];
    path.n_chunks = 0;
    for (long long at = first; lists.table_tokens[at] > 0; at++) {
        path.run[path.n_chunks++] = {lists.table[at], lists.table_tokens[at],
                                     lists.table_position[at]};
    }
}

static void fill(cp_plan *plan, const cp_kernel_call &lists) {
    plan->stamp = {1, 1, 1};
    plan->capacity = lists.capacity;
    plan->chunk_size = lists.chunk_size;
    plan->n_sequences = lists.n_sequences;
    plan->n_shared = lists.n_shared;
    plan->n_served = lists.n_served;
    std::copy(lists.served, lists.served + lists.n_served, plan->served);
    std::copy(lists.shared, lists.shared + lists.n_shared, plan->shared);
    for (int s = 0; s < lists.n_sequences; s++) {
        fill_sequence(plan->sequence[s], lists, s);
    }
}

/* ---- A call ---- */

/* Numbers of heads in binary64, at `to` on the device; NULL stays. */
static int widen(const float *from, int each, const cp_kernel_call *call, char *to,
                 const double **at) {
    const std::size_t n = static_cast<std::size_t>(call->n_heads) * static_cast<std::size_t>(each);
    cudaStream_t stream = static_cast<cudaStream_t>(call->stream);
    std::vector<float> narrow(n);
    *at = nullptr;
    if (from == nullptr) {
        return CP_OK;
    }
    cudaError_t error =
        cudaMemcpyAsync(narrow.data(), from, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    error = error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
    const std::vector<double> wide(narrow.begin(), narrow.end());
    if (error == cudaSuccess) {
        error =
            cudaMemcpyAsync(to, wide.data(), n * sizeof(double), cudaMemcpyHostToDevice, stream);
    }
    error = error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
    *at = reinterpret_cast<const double *>(to);
    return error == cudaSuccess ? CP_OK : CP_ERROR_CUDA;
}

static int take_scores(const cp_kernel_call *call, cp_scores *scores) {
    char *sinks = static_cast<char *>(call->workspace) + call->workspace_size - heads_bytes(call);
    char *slopes = sinks - heads_bytes(call), *table = slopes - table_bytes(call);
    scores->cap = call->cap;
    scores->biases.n = call->n_biases;
    scores->biases.own = call->own_bias;
    int status = widen(call->slopes, 1, call, slopes, &scores->slopes);
    if (status == CP_OK) {
        status = widen(call->biases, call->n_biases, call, table, &scores->biases.bias);
    }
    return status != CP_OK ? status : widen(call->sinks, 1, call, sinks, &scores->sinks);
}

static int start(cp_cuda *cuda, const cp_plan *plan, const cp_kernel_call *call) {
    cp_cuda_attention attention = {};
    attention.stamp = plan->stamp;
    attention.version = VERSION;
    attention.n_heads = call->n_heads;
    attention.n_kv_heads = call->n_kv_heads;
    attention.head_dim = call->head_dim;
    attention.value_dim = call->value_dim;
    attention.v_row = static_cast<int>(call->v_slot);
    attention.scale = call->scale;
    attention.window = {call->window, call->ahead, call->kept};
    attention.mask = {call->mask_bits, call->mask_first, call->mask_begin};
    attention.q_type = TYPE;
    attention.k_type = CACHE.k == CP_CACHE_PLAIN ? TYPE : CACHE.k;
    attention.v_type = CACHE.v == CP_CACHE_PLAIN ? TYPE : CACHE.v;
    attention.scales = {CACHE.scales, call->k_scales, call->v_scales};
    attention.q = call->q;
    attention.k = call->k;
    attention.v = call->v;
    attention.out_type = TYPE;
    attention.out = call->out;
    attention.lse = static_cast<double *>(call->lse);
    int status = take_scores(call, &attention.scores);
    if (status == CP_OK) {
        status = cp_cuda_update(cuda, plan, call->on_host->query_begin, call->on_host->position,
                                call->stream);
    }
    return status != CP_OK ? status : cp_cuda_attend(cuda, &attention, call->stream);
}

static int attend(const cp_kernel_call *call) {
    const cp_cuda_limits limits = limits_of(call);
    cp_cuda *cuda = nullptr;
    cp_plan *plan = static_cast<cp_plan *>(std::calloc(1, sizeof *plan));
    int status = plan == nullptr ? CP_ERROR_NO_MEMORY : CP_OK;
    if (status == CP_OK) {
        fill(plan, *call->on_host);
        status = cp_cuda_new(&cuda, &limits, call->workspace, cp_cuda_workspace(&limits));
    }
    if (status == CP_OK) {
        status = start(cuda, plan, call);
    }
    (void)cudaStreamSynchronize(static_cast<cudaStream_t>(call->stream)); /* before it is freed */
    cp_cuda_free(cuda);
    std::free(plan);
    return status;
}

static struct cp_kernel describe() {
    static char name[] = "chunkproof CUDA v0" KIND;
    struct cp_kernel kernel = {};
    name[sizeof name - sizeof KIND - 1] = static_cast<char>('0' + VERSION);
    kernel.abi = CP_KERNEL_ABI;
    kernel.name = name;
    kernel.memory = CP_DEVICE_MEMORY;
    kernel.q_type = kernel.kv_type = kernel.out_type = TYPE;
    kernel.lse_type = CP_FP64;
    kernel.widths = VALUES.widths;
    kernel.layout.tensors = VALUES.tensors;
    kernel.plans = CP_PLANS_LISTS;
    kernel.masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT;
    kernel.masks += VERSION == 1 ? CP_MASKS_BITS : 0;
    kernel.scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS | CP_SCORES_BIASES;
    kernel.arithmetic.score = VERSION < 3 ? CP_SUM_FP32 : CP_SUM_TENSOR_CORE;
    kernel.arithmetic.values = kernel.arithmetic.score;
    kernel.arithmetic.weights = VERSION < 3 ? CP_FP32 : TYPE;
    kernel.arithmetic.partials = CP_FP32;
    kernel.cache = CACHE;
    kernel.arithmetic.k_dequantised = CP_FP32;
    kernel.arithmetic.v_dequantised =
        VERSION == 3 && CACHE.scales == CP_CACHE_SCALE_TOKEN ? TYPE : CP_FP32;
    kernel.arithmetic.in_bits = VERSION == 3;
    kernel.arithmetic.exp_error = 0x1p-22;
    kernel.arithmetic.tanh_error = 0x1p-22;
    kernel.arithmetic.step = VERSION == 1 ? 0
                             : VERSION == 3 && VALUES.widths == CP_WIDTHS_EQUAL
                                 ? 64
                                 : 32; /* of a tile */
    kernel.refuses = refuses;
    kernel.workspace = workspace;
    kernel.attend = attend;
    return kernel;
}

extern "C" const struct cp_kernel cp_kernel = describe();
