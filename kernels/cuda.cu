/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher (chunkproof/cuda.h). Host code throughout: the kernels are those of v1.h, v2.h and
 * v3.h. Those of caches of 8 bits are in cuda_cache.cu, those of masks of bits in cuda_mask.cu, and
 * those of values that have a width of their own in cuda_width.cu. */
#include "chunkproof/cuda.h"

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <new>

#include "kernels/index.h"
#include "kernels/launch.h"

using chunkproof::Launch;
using chunkproof::Measure;

/* ---- What was wrong ---- */

[[gnu::format(printf, 3, 4)]] static int failed(cp_cuda *cuda, int status, const char *format,
                                                ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(cuda->text, sizeof cuda->text, format, arguments);
    va_end(arguments);
    return status;
}

/* The status of a call to CUDA. */
static int checked(cp_cuda *cuda, cudaError_t error, const char *call) {
    return error == cudaSuccess
               ? CP_OK
               : failed(cuda, CP_ERROR_CUDA, "%s: %s", call, cudaGetErrorString(error));
}

const char *cp_cuda_text(const cp_cuda *cuda) {
    return cuda == nullptr ? "there is no struct cp_cuda" : cuda->text;
}

static bool is_aligned(const void *address, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

std::size_t cp_cuda_workspace(const cp_cuda_limits *limits) {
    cp_layout layout;
    bool fits = limits != nullptr && cp_limit_out_of_range(limits) == nullptr &&
                cp_layout_measure(&layout, limits) == CP_OK;
    return fits ? layout.total : 0;
}

/* ---- Set-up ---- */

static int set_up_device(cp_cuda *cuda) {
    int major = 0, minor = 0, shared = 0, device = 0;
    int status = checked(cuda, cudaGetDevice(&device), "cudaGetDevice");
    const struct {
        cudaDeviceAttr attribute;
        int *value;
    } attributes[] = {
        {cudaDevAttrComputeCapabilityMajor, &major},
        {cudaDevAttrComputeCapabilityMinor, &minor},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, &shared},
    };
    for (const auto &a : attributes) {
        if (status == CP_OK) {
            status = checked(cuda, cudaDeviceGetAttribute(a.value, a.attribute, device),
                             "cudaDeviceGetAttribute");
        }
    }
    cuda->device = device;
    cuda->capability = 10 * major + minor;
    cuda->most_shared = static_cast<std::size_t>(shared);
    return status;
}

static int set_up(cp_cuda *cuda, const cp_cuda_limits *limits, void *workspace,
                  std::size_t workspace_size) {
    if (limits == nullptr) {
        return failed(cuda, CP_ERROR_ARGUMENT, "limits is NULL");
    }
    const char *wrong = cp_limit_out_of_range(limits);
    if (wrong != nullptr) {
        return failed(cuda, CP_ERROR_ARGUMENT, "limits.%s is out of its range", wrong);
    }
    if (cp_layout_measure(&cuda->layout, limits) != CP_OK) {
        return failed(
            cuda, CP_ERROR_ARGUMENT,
            "the limits make more than %d queries or %d partial results: lower n_rows, levels, or "
            "depth / chunks_per_task",
            CP_MOST_QUERIES, INT_MAX);
    }
    if (workspace == nullptr || !is_aligned(workspace, CP_WORKSPACE_ALIGNMENT)) {
        return failed(cuda, CP_ERROR_ARGUMENT, "workspace is NULL, or not aligned to %d bytes",
                      CP_WORKSPACE_ALIGNMENT);
    }
    if (workspace_size < cuda->layout.total) {
        return failed(cuda, CP_ERROR_WORKSPACE, "the workspace has %zu bytes, the limits need %zu",
                      workspace_size, cuda->layout.total);
    }
    cuda->limits = *limits;
    cuda->workspace = static_cast<char *>(workspace);
    int status = set_up_device(cuda);
    if (status == CP_OK) {
        void *staged = nullptr;
        status = checked(
            cuda,
            cudaHostAlloc(&staged, cuda->layout.most_numbers * sizeof(int), cudaHostAllocDefault),
            "cudaHostAlloc");
        cuda->staged = static_cast<int *>(staged);
    }
    if (status == CP_OK) {
        status = checked(cuda, cudaEventCreateWithFlags(&cuda->copied, cudaEventDisableTiming),
                         "cudaEventCreateWithFlags");
    }
    return status;
}

int cp_cuda_new(cp_cuda **cuda, const cp_cuda_limits *limits, void *workspace,
                std::size_t workspace_size) {
    if (cuda == nullptr) {
        return CP_ERROR_ARGUMENT;
    }
    *cuda = new (std::nothrow) cp_cuda();
    return *cuda == nullptr ? CP_ERROR_NO_MEMORY : set_up(*cuda, limits, workspace, workspace_size);
}

void cp_cuda_free(cp_cuda *cuda) {
    if (cuda != nullptr) {
        if (cuda->copied != nullptr) {
            (void)cudaEventDestroy(cuda->copied);
        }
        if (cuda->staged != nullptr) {
            (void)cudaFreeHost(cuda->staged);
        }
        delete cuda;
    }
}

/* ---- The plan on the device ---- */

static int check_device(cp_cuda *cuda) {
    int device = -1;
    int status = checked(cuda, cudaGetDevice(&device), "cudaGetDevice");
    return status != CP_OK || device == cuda->device
               ? status
               : failed(cuda, CP_ERROR_ARGUMENT, "device %d is current, not %d as in cp_cuda_new()",
                        device, cuda->device);
}

static int check_capture(cp_cuda *cuda, cudaStream_t stream) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    int status = checked(cuda, cudaStreamIsCapturing(stream, &capture), "cudaStreamIsCapturing");
    return status != CP_OK || capture == cudaStreamCaptureStatusNone
               ? status
               : failed(cuda, CP_ERROR_ARGUMENT,
                        "the stream is being captured: call cp_cuda_update() before the graph is "
                        "launched");
}

static bool same_ranges(const cp_cuda *cuda, const int *query_begin) {
    const int *staged = cuda->staged + cuda->schedule.query_begin;
    for (int s = 0; s <= cuda->schedule.n_sequences; s++) {
        if (staged[s] != (query_begin == nullptr ? s : query_begin[s])) {
            return false;
        }
    }
    return true;
}

/* Does the schedule on the device still hold, apart from lengths? (PLAN-6) */
static bool same_paths(const cp_cuda *cuda, const cp_plan *plan, const int *query_begin) {
    return cuda->loaded && plan->stamp.tree == cuda->stamp.tree &&
           plan->stamp.epoch == cuda->stamp.epoch && same_ranges(cuda, query_begin);
}

/* Waits until the copy before is done: until then the staging memory must not change. */
static int wait_for_copy(cp_cuda *cuda) {
    return checked(cuda, cudaEventSynchronize(cuda->copied), "cudaEventSynchronize");
}

/* Numbers first .. first + n - 1 of the schedule. */
static int copy(cp_cuda *cuda, std::size_t first, std::size_t n, cudaStream_t stream) {
    int status =
        checked(cuda,
                cudaMemcpyAsync(cuda->workspace + first * sizeof(int), cuda->staged + first,
                                n * sizeof(int), cudaMemcpyHostToDevice, stream),
                "cudaMemcpyAsync");
    return status != CP_OK
               ? status
               : checked(cuda, cudaEventRecord(cuda->copied, stream), "cudaEventRecord");
}

static int check_size(cp_cuda *cuda, const cp_schedule &schedule) {
    const cp_cuda_limits &l = cuda->limits;
    return cp_layout_has_room(&cuda->layout, &l, &schedule)
               ? CP_OK
               : failed(cuda, CP_ERROR_WORKSPACE,
                        "the plan has %d sequences, %d query rows, %d tasks, %d partial results "
                        "and %zu numbers; the "
                        "limits allow for %d, %d, %d, %d and %zu",
                        schedule.n_sequences, schedule.n_rows, schedule.n_tasks, schedule.n_parts,
                        schedule.n_numbers, l.n_sequences, l.n_rows, l.n_chunks,
                        cuda->layout.most_parts, cuda->layout.most_numbers);
}

static int load(cp_cuda *cuda, const cp_plan *plan, const int *query_begin, const int *position,
                cudaStream_t stream) {
    cp_schedule schedule;
    int status = cp_schedule_measure(&schedule, plan, query_begin, cuda->limits.chunks_per_task);
    if (status != CP_OK) {
        return failed(cuda, status, "query_begin does not begin at 0, or decreases");
    }
    status = check_size(cuda, schedule);
    if (status == CP_OK) {
        status = wait_for_copy(cuda);
    }
    if (status == CP_OK) {
        cp_schedule_write(&schedule, plan, query_begin, position, cuda->staged);
        status = copy(cuda, 0, schedule.n_numbers, stream);
    }
    if (status == CP_OK) {
        cuda->schedule = schedule;
        cuda->chunk_size = plan->chunk_size;
        cuda->generation++;
    }
    return status;
}

/* The keys of tasks, and behind them the positions. */
static int load_lengths(cp_cuda *cuda, const cp_plan *plan, const int *position,
                        cudaStream_t stream) {
    const cp_schedule &schedule = cuda->schedule;
    int status = wait_for_copy(cuda);
    if (status == CP_OK) {
        cp_schedule_write_lengths(&schedule, plan, position, cuda->staged);
        status = copy(cuda, schedule.n_keys, schedule.n_numbers - schedule.n_keys, stream);
    }
    return status;
}

int cp_cuda_update(cp_cuda *cuda, const cp_plan *plan, const int *query_begin, const int *position,
                   void *stream) {
    if (cuda == nullptr) {
        return CP_ERROR_ARGUMENT;
    }
    if (plan == nullptr) {
        return failed(cuda, CP_ERROR_ARGUMENT, "plan is NULL");
    }
    bool paths = same_paths(cuda, plan, query_begin);
    if (paths && plan->stamp.step == cuda->stamp.step &&
        cp_schedule_has_positions(&cuda->schedule, plan, position, cuda->staged) != 0) {
        return CP_OK;
    }
    cudaStream_t on = static_cast<cudaStream_t>(stream);
    int status = check_device(cuda);
    if (status == CP_OK) {
        status = check_capture(cuda, on);
    }
    if (status == CP_OK) {
        status = paths ? load_lengths(cuda, plan, position, on)
                       : load(cuda, plan, query_begin, position, on);
    }
    if (status == CP_OK) {
        cuda->stamp = plan->stamp;
        cuda->loaded = true;
    } else if (status == CP_ERROR_CUDA) {
        cuda->loaded = false; /* half of it may be */
    }
    return status;
}

unsigned long long cp_cuda_generation(const cp_cuda *cuda) {
    return cuda->generation;
}

/* ---- Attention ---- */

static const int N_VERSIONS = 3;

static bool has_8_bits(int type) {
    return type == CP_E4M3 || type == CP_E5M2 || type == CP_INT8;
}

/* A version's two phases in the arithmetic of the call's types, with any way to launch. */
template <class Launcher>
static void attend(const Launcher &launch, int version, const cp_cuda *cuda,
                   const cp_cuda_attention *a) {
    using namespace chunkproof;
    if (has_widths(a)) {
        attend_widths(launch, cuda, a);
    } else if (a->mask.bits != nullptr) {
        attend_masked(launch, cuda, a);
    } else if (has_8_bits(a->k_type)) {
        attend_cached(launch, version, cuda, a);
    } else if (a->q_type == CP_BF16) {
        attend_in<RealBf16, RealBf16InBits>(launch, version, cuda, a);
    } else {
        attend_in<Real, RealInBits>(launch, version, cuda, a);
    }
}

/* Why a version cannot do this, or NULL. */
static const char *obstacle(int version, const cp_cuda *cuda, const cp_cuda_attention *a) {
    if (cuda->capability < 80) {
        return "it is compiled for compute capability 8.0 and up";
    }
    if (a->mask.bits != nullptr) {
        const char *why = chunkproof::obstacle_of_mask(version, a);
        if (why != nullptr) {
            return why;
        }
    }
    if (chunkproof::has_widths(a)) {
        const char *why = chunkproof::obstacle_of_widths(version, a);
        if (why != nullptr) {
            return why;
        }
    } else {
        bool has_tiles = false;
        chunkproof::with_head_dim(a->head_dim, [&](auto) { has_tiles = true; });
        if (version > 1 && !has_tiles) {
            return "it is compiled for other head dimensions";
        }
    }
    std::size_t shared = 0;
    attend(Measure{&shared}, version, cuda, a);
    return shared > cuda->most_shared ? "a block of this device has too little shared memory"
                                      : nullptr;
}

static int check_types(cp_cuda *cuda, const cp_cuda_attention *a) {
    if (a->q_type != CP_FP16 && a->q_type != CP_BF16) {
        return failed(cuda, CP_ERROR_UNSUPPORTED, "q_type %d is neither CP_FP16 nor CP_BF16",
                      a->q_type);
    }
    const bool cached = has_8_bits(a->k_type) && has_8_bits(a->v_type);
    if (!cached && (a->k_type != a->q_type || a->v_type != a->q_type)) {
        return failed(cuda, CP_ERROR_UNSUPPORTED,
                      "k_type %d and v_type %d are neither q_type %d nor both of 8 bits", a->k_type,
                      a->v_type, a->q_type);
    }
    if (!cached && (a->scales.k != nullptr || a->scales.v != nullptr)) {
        return failed(cuda, CP_ERROR_UNSUPPORTED, "scales.%c: only K and V of 8 bits have scales",
                      a->scales.k != nullptr ? 'k' : 'v');
    }
    return a->out_type == a->q_type || a->out_type == CP_FP32
               ? CP_OK
               : failed(cuda, CP_ERROR_UNSUPPORTED, "out_type %d is neither q_type %d nor CP_FP32",
                        a->out_type, a->q_type);
}

static int choose_version(cp_cuda *cuda, const cp_cuda_attention *a, int *version) {
    if (a->version < 0 || a->version > N_VERSIONS) {
        return failed(cuda, CP_ERROR_UNSUPPORTED, "there is no version %d: 1 to %d, or 0",
                      a->version, N_VERSIONS);
    }
    *version = a->version == 0 ? N_VERSIONS : a->version;
    const char *why = obstacle(*version, cuda, a);
    const bool has_others = a->version == 0 && !chunkproof::has_widths(a);
    while (has_others && *version > 1 && why != nullptr) {
        why = obstacle(--*version, cuda, a);
    }
    return why == nullptr ? CP_OK
                          : failed(cuda, CP_ERROR_UNSUPPORTED,
                                   "version %d, head_dim %d, value_dim %d, v_row %d: %s", *version,
                                   a->head_dim, a->value_dim, a->v_row, why);
}

static int check_tensors(cp_cuda *cuda, const cp_cuda_attention *a) {
    const struct {
        const char *name;
        const void *address;
    } tensors[] = {{"q", a->q}, {"k", a->k}, {"v", a->v}, {"out", a->out}};
    for (const auto &tensor : tensors) {
        if (tensor.address == nullptr || !is_aligned(tensor.address, 16)) {
            return failed(cuda, CP_ERROR_ARGUMENT, "%s is %s", tensor.name,
                          tensor.address == nullptr ? "NULL" : "not aligned to 16 bytes");
        }
    }
    /* Version 3 multiplies it by log2(e) < 2. */
    return std::fabs(a->scale) <= FLT_MAX / 2
               ? CP_OK
               : failed(cuda, CP_ERROR_ARGUMENT, "scale is %g", a->scale);
}

/* WINDOW-1 */
static int check_window(cp_cuda *cuda, const cp_window &window) {
    const struct {
        const char *name;
        int value;
    } numbers[] = {{"keys", window.keys}, {"ahead", window.ahead}, {"kept", window.kept}};
    for (const auto &number : numbers) {
        if (number.value < 0 || number.value > CP_MAX_WINDOW) {
            return failed(cuda, CP_ERROR_ARGUMENT, "window.%s is %d", number.name, number.value);
        }
    }
    return CP_OK;
}

/* MASK-1 */
static int check_mask(cp_cuda *cuda, const cp_mask &mask) {
    if (mask.bits == nullptr) {
        return CP_OK;
    }
    if (mask.first == nullptr || !is_aligned(mask.first, alignof(std::size_t))) {
        return failed(cuda, CP_ERROR_ARGUMENT, "mask.first is %s",
                      mask.first == nullptr ? "NULL" : "not aligned");
    }
    return is_aligned(mask.begin, alignof(int))
               ? CP_OK
               : failed(cuda, CP_ERROR_ARGUMENT, "mask.begin is not aligned");
}

/* SCORE-1: a cap whose reciprocal is a normal number of binary32, also times log2(e). SCORE-5: a
 * table that has the row's own bias. */
static int check_scores(cp_cuda *cuda, const cp_scores &scores) {
    if (scores.cap != 0.0 &&
        !(scores.cap >= CP_CUDA_LEAST_CAP && scores.cap <= 1.0 / CP_CUDA_LEAST_CAP)) {
        return failed(cuda, CP_ERROR_ARGUMENT, "scores.cap is %g", scores.cap);
    }
    const struct {
        const char *name;
        const double *address;
    } lists[] = {
        {"slopes", scores.slopes}, {"sinks", scores.sinks}, {"biases.bias", scores.biases.bias}};
    for (const auto &list : lists) {
        if (!is_aligned(list.address, alignof(double))) {
            return failed(cuda, CP_ERROR_ARGUMENT, "scores.%s is not aligned", list.name);
        }
    }
    const cp_biases &biases = scores.biases;
    return biases.bias == nullptr || (0 <= biases.own && biases.own < biases.n)
               ? CP_OK
               : failed(cuda, CP_ERROR_ARGUMENT, "scores.biases.own is %d, and n is %d", biases.own,
                        biases.n);
}

/* NUM-18 */
static int check_scales(cp_cuda *cuda, const cp_scales &scales) {
    if (scales.per < CP_CACHE_SCALE_TENSOR || scales.per > CP_CACHE_SCALE_TOKEN) {
        return failed(cuda, CP_ERROR_ARGUMENT, "scales.per is %d", scales.per);
    }
    if (!is_aligned(scales.k, alignof(float)) || !is_aligned(scales.v, alignof(float))) {
        return failed(cuda, CP_ERROR_ARGUMENT, "scales.%c is not aligned",
                      is_aligned(scales.k, alignof(float)) ? 'v' : 'k');
    }
    return CP_OK;
}

static int check_shape(cp_cuda *cuda, const cp_cuda_attention *a) {
    if (a->n_heads < 1 || a->n_kv_heads < 1 || a->head_dim < 1 || a->n_heads % a->n_kv_heads != 0) {
        return failed(cuda, CP_ERROR_SHAPE,
                      "n_heads %d, n_kv_heads %d, head_dim %d do not fit together", a->n_heads,
                      a->n_kv_heads, a->head_dim);
    }
    if (a->value_dim < 1 || a->v_row < a->value_dim) {
        return failed(cuda, CP_ERROR_SHAPE, "value_dim %d, v_row %d do not fit together",
                      a->value_dim, a->v_row);
    }
    if (a->n_heads > cuda->limits.n_heads || a->head_dim > cuda->limits.head_dim ||
        a->value_dim > cuda->limits.head_dim) {
        return failed(cuda, CP_ERROR_WORKSPACE,
                      "n_heads %d, head_dim %d, value_dim %d are above the limits %d, %d, %d",
                      a->n_heads, a->head_dim, a->value_dim, cuda->limits.n_heads,
                      cuda->limits.head_dim, cuda->limits.head_dim);
    }
    return CP_OK;
}

static int check_stamp(cp_cuda *cuda, cp_stamp now) {
    const cp_stamp &then = cuda->stamp;
    return cuda->loaded && then.tree == now.tree && then.epoch == now.epoch && then.step == now.step
               ? CP_OK
               : failed(cuda, CP_ERROR_STALE, "%s: call cp_cuda_update() with the tree's plan",
                        cuda->loaded ? "the plan on the device is not of the tree as it is now"
                                     : "there is no plan on the device");
}

int cp_cuda_attend(cp_cuda *cuda, const cp_cuda_attention *attention, void *stream) {
    if (cuda == nullptr) {
        return CP_ERROR_ARGUMENT;
    }
    if (attention == nullptr) {
        return failed(cuda, CP_ERROR_ARGUMENT, "attention is NULL");
    }
    int version = 0;
    int status = check_device(cuda);
    status = status != CP_OK ? status : check_stamp(cuda, attention->stamp);
    status = status != CP_OK ? status : check_tensors(cuda, attention);
    status = status != CP_OK ? status : check_window(cuda, attention->window);
    status = status != CP_OK ? status : check_mask(cuda, attention->mask);
    status = status != CP_OK ? status : check_scores(cuda, attention->scores);
    status = status != CP_OK ? status : check_scales(cuda, attention->scales);
    status = status != CP_OK ? status : check_shape(cuda, attention);
    status = status != CP_OK ? status : check_types(cuda, attention);
    status = status != CP_OK ? status : choose_version(cuda, attention, &version);
    if (status != CP_OK) {
        return status;
    }
    cudaError_t error = cudaSuccess;
    attend(Launch{static_cast<cudaStream_t>(stream), &error}, version, cuda, attention);
    return checked(cuda, error, "a kernel's launch");
}
