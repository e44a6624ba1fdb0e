/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simt/device.h"

#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace simt {

static thread_local Device *current = nullptr;

/* The host functions, on the device of this operating-system thread. */
struct Host {
    Device &device;

    Host() : device(*current) {}

    static bool has_finding() {
        return current != nullptr && !current->report.ok();
    }

    /* Counts a call. Returns whether this call must fail. */
    bool fails() const {
        device.calls++;
        return device.fail_at > 0 && --device.fail_at == 0;
    }

    CUstream_st *stream(cudaStream_t stream) const {
        return stream == nullptr                   ? &device.default_stream
               : device.streams.count(stream) == 1 ? stream
                                                   : nullptr;
    }

    /* Do the bytes lie in one area of the map? */
    static bool has(const std::map<char *, std::size_t> &areas, const void *from,
                    std::size_t bytes) {
        const char *first = static_cast<const char *>(from);
        for (const auto &[begin, size] : areas) {
            if (begin <= first && first + bytes <= begin + size) {
                return true;
            }
        }
        return false;
    }

    static cudaError_t add(std::map<char *, std::size_t> &areas, void **result, std::size_t bytes,
                           int protection) {
        void *begin =
            mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (bytes == 0 || begin == MAP_FAILED) {
            return cudaErrorMemoryAllocation;
        }
        areas[static_cast<char *>(begin)] = bytes;
        *result = begin;
        return cudaSuccess;
    }

    /* Gives the pages back and keeps their addresses, so that nothing else comes to lie there while
     * the device lives: an access through an old pointer is always found. */
    cudaError_t remove(std::map<char *, std::size_t> &areas, void *begin) const {
        auto area = areas.find(static_cast<char *>(begin));
        if (area == areas.end() ||
            mmap(begin, area->second, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
            return cudaErrorInvalidValue;
        }
        device.freed.insert(*area);
        areas.erase(area);
        return cudaSuccess;
    }

    void protect(int protection) const {
        for (const auto &[begin, size] : device.memory) {
            mprotect(begin, size, protection);
        }
    }

    cudaError_t put(cudaStream_t handle, Step step) const {
        CUstream_st *on = stream(handle);
        if (on == nullptr) {
            return cudaErrorInvalidResourceHandle;
        }
        if (on->captured != nullptr) {
            on->captured->steps.push_back(std::move(step));
        } else {
            on->steps.push_back(std::move(step));
        }
        return cudaSuccess;
    }

    /* Waiting is forbidden while any stream is captured: the capture is global. */
    bool spoils_capture() const {
        bool spoilt = false;
        auto spoil = [&](CUstream_st &one) {
            one.spoiled = one.spoiled || one.captured != nullptr;
            spoilt = spoilt || one.captured != nullptr;
        };
        spoil(device.default_stream);
        for (cudaStream_t one : device.streams) {
            spoil(*one);
        }
        return spoilt;
    }

    cudaError_t do_one(CUstream_st &on) const {
        Step step = std::move(on.steps.front());
        on.steps.pop_front();
        protect(PROT_READ | PROT_WRITE);
        cudaError_t error = step();
        protect(PROT_NONE);
        return error;
    }

    cudaError_t finish(CUstream_st &on) const {
        cudaError_t error = cudaSuccess;
        device.waits += !on.steps.empty();
        while (error == cudaSuccess && !on.steps.empty()) {
            error = do_one(on);
        }
        return error;
    }

    cudaError_t wait(CUevent_st &event) const {
        cudaError_t error = cudaSuccess;
        device.waits += event.pending > 0;
        while (error == cudaSuccess && event.pending > 0) {
            error = do_one(*stream(event.stream));
        }
        return error;
    }

    template <class T> static cudaError_t make(std::set<T *> &all, T **one) {
        *one = *all.insert(new T()).first;
        return cudaSuccess;
    }

    template <class T> static cudaError_t destroy(std::set<T *> &all, T *one) {
        if (all.erase(one) == 0) {
            return cudaErrorInvalidResourceHandle;
        }
        delete one;
        return cudaSuccess;
    }
};

Device::Device() : before(current) {
    current = this;
}

Device::~Device() {
    for (const auto &areas : {memory, pinned, freed}) {
        for (const auto &[begin, size] : areas) {
            munmap(begin, size);
        }
    }
    for (cudaStream_t one : streams) {
        delete one;
    }
    for (cudaEvent_t one : events) {
        delete one;
    }
    for (cudaGraph_t one : graphs) {
        delete one;
    }
    for (cudaGraphExec_t one : executables) {
        delete one;
    }
    current = before;
}

std::size_t Device::live() const {
    return memory.size() + pinned.size() + streams.size() + events.size() + graphs.size() +
           executables.size();
}

static cudaError_t run_kernel(const Host &host, Config config,
                              const std::function<Report(const Config &)> &kernel) {
    config.seed = host.device.seed;
    config.step_limit = host.device.step_limit;
    for (const auto &[begin, size] : host.device.memory) {
        const auto known = host.device.declared.find(begin);
        config.buffers.push_back(known != host.device.declared.end()
                                     ? known->second
                                     : Buffer{"device memory", begin, size, true});
    }
    if (host.device.variables.bytes > 0) {
        config.buffers.push_back(host.device.variables);
    }
    Report report = kernel(config);
    if (!report.ok() && host.device.report.ok()) {
        host.device.report = report;
    }
    return report.ok() ? cudaSuccess : cudaErrorLaunchFailure;
}

cudaError_t allow_shared(const void *kernel, int bytes) {
    Host host;
    if (host.fails() || bytes < 0 || static_cast<std::size_t>(bytes) > host.device.most_shared) {
        return cudaErrorInvalidValue;
    }
    host.device.allowed_shared[kernel] = static_cast<std::size_t>(bytes);
    return cudaSuccess;
}

bool may_use_shared(const void *kernel, std::size_t bytes) {
    Host host;
    const auto allowed = host.device.allowed_shared.find(kernel);
    bool may = bytes <= 48 * 1024 ||
               (allowed != host.device.allowed_shared.end() && bytes <= allowed->second);
    host.device.last_error = may ? host.device.last_error : cudaErrorInvalidValue;
    return may;
}

cudaError_t launch_later(cudaStream_t stream, const Config &config,
                         std::function<Report(const Config &)> kernel) {
    Host host;
    cudaError_t error = cudaSuccess;
    if (host.fails()) {
        error = cudaErrorLaunchFailure;
    } else if (config.dynamic_bytes > host.device.most_shared || config.grid.y > 65535 ||
               config.grid.z > 65535) {
        error = cudaErrorInvalidValue;
    } else {
        host.device.launches++;
        error = host.put(stream, [=] { return run_kernel(Host(), config, kernel); });
    }
    host.device.last_error = error != cudaSuccess ? error : host.device.last_error;
    return error;
}

} // namespace simt

using simt::Host;

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidResourceHandle:
        return "invalid resource handle";
    case cudaErrorLaunchFailure: /* the executor knows more */
        return Host::has_finding() ? Host().device.report.text.c_str()
                                   : "unspecified launch failure";
    case cudaErrorStreamCaptureUnsupported:
        return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
        return "operation failed due to a previous error during capture";
    }
    return "unrecognized error code";
}

cudaError_t cudaGetDevice(int *device) {
    Host host;
    *device = host.device.number;
    return host.fails() ? cudaErrorInvalidValue : cudaSuccess;
}

/* There is only this device, whatever its number. */
cudaError_t cudaGetDeviceCount(int *devices) {
    Host host;
    *devices = host.device.number + 1;
    return host.fails() ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    Host host;
    return host.fails() || device != host.device.number ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    Host host;
    if (host.fails() || device != host.device.number) {
        return cudaErrorInvalidValue;
    }
    *properties = {"executor of CUDA kernels",
                   host.device.capability / 10,
                   host.device.capability % 10,
                   host.device.multiprocessors,
                   32,
                   1024,
                   48 * 1024,
                   host.device.most_shared};
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error != cudaSuccess) {
        return error;
    }
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = p.maxThreadsPerBlock;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = static_cast<int>(p.sharedMemPerBlock);
        return cudaSuccess;
    case cudaDevAttrWarpSize:
        *value = p.warpSize;
        return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
        *value = p.multiProcessorCount;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
        *value = p.major;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
        *value = p.minor;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = static_cast<int>(p.sharedMemPerBlockOptin);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudaMalloc(void **memory, std::size_t bytes) {
    Host host;
    return host.fails() ? cudaErrorMemoryAllocation
                        : Host::add(host.device.memory, memory, bytes, PROT_NONE);
}

cudaError_t cudaFree(void *memory) {
    Host host;
    host.device.declared.erase(static_cast<char *>(memory));
    return host.fails() ? cudaErrorInvalidValue : host.remove(host.device.memory, memory);
}

cudaError_t cudaHostAlloc(void **memory, std::size_t bytes, unsigned) {
    Host host;
    return host.fails() ? cudaErrorMemoryAllocation
                        : Host::add(host.device.pinned, memory, bytes, PROT_READ | PROT_WRITE);
}

cudaError_t cudaFreeHost(void *memory) {
    Host host;
    return host.fails() ? cudaErrorInvalidValue : host.remove(host.device.pinned, memory);
}

/* Zero bytes may have no address, which memcpy() must not see. */
static void copy(void *to, const void *from, std::size_t bytes) {
    if (bytes > 0) {
        std::memcpy(to, from, bytes);
    }
}

/* A copy from memory that is not pinned takes what lies there now, and a copy to such memory is not
 * deferred. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    Host host;
    bool to_device = kind == cudaMemcpyHostToDevice;
    if (host.fails() || !Host::has(host.device.memory, to_device ? to : from, bytes)) {
        return cudaErrorInvalidValue;
    }
    if (kind == cudaMemcpyDeviceToDevice) {
        return host.put(stream, [=] {
            copy(to, from, bytes);
            return cudaSuccess;
        });
    }
    host.device.copies += to_device;
    host.device.copied_bytes += to_device ? bytes : 0;
    bool is_pinned = Host::has(host.device.pinned, to_device ? from : to, bytes);
    if (to_device && !is_pinned) {
        host.device.pageable_copies++;
        const char *first = static_cast<const char *>(from);
        return host.put(stream, [=, now = std::vector<char>(first, first + bytes)] {
            copy(to, now.data(), bytes);
            return cudaSuccess;
        });
    }
    cudaError_t error = host.put(stream, [=] {
        copy(to, from, bytes);
        return cudaSuccess;
    });
    return error != cudaSuccess || is_pinned ? error : cudaStreamSynchronize(stream);
}

cudaError_t cudaMemsetAsync(void *to, int byte, std::size_t bytes, cudaStream_t stream) {
    Host host;
    return host.fails() || !Host::has(host.device.memory, to, bytes)
               ? cudaErrorInvalidValue
               : host.put(stream, [=] {
                     std::memset(to, byte, bytes);
                     return cudaSuccess;
                 });
}

cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind) {
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
    return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemset(void *to, int byte, std::size_t bytes) {
    return cudaMemsetAsync(to, byte, bytes, nullptr);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    Host host;
    if (flags > cudaStreamNonBlocking) {
        return cudaErrorInvalidValue;
    }
    return host.fails() ? cudaErrorMemoryAllocation : Host::make(host.device.streams, stream);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    Host host;
    return host.fails() ? cudaErrorInvalidValue : Host::destroy(host.device.streams, stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    Host host;
    if (host.fails() || host.stream(stream) == nullptr) {
        return cudaErrorInvalidResourceHandle;
    }
    return host.spoils_capture() ? cudaErrorStreamCaptureUnsupported
                                 : host.finish(*host.stream(stream));
}

/* Runs each stream to its end, the default stream first: streams do not wait for each other
 * here. */
cudaError_t cudaDeviceSynchronize() {
    Host host;
    if (host.fails()) {
        return cudaErrorLaunchFailure;
    }
    if (host.spoils_capture()) {
        return cudaErrorStreamCaptureUnsupported;
    }
    cudaError_t error = host.finish(host.device.default_stream);
    for (cudaStream_t one : host.device.streams) {
        error = error != cudaSuccess ? error : host.finish(*one);
    }
    return error;
}

cudaError_t cudaGetLastError() {
    Host host;
    return std::exchange(host.device.last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
    Host host;
    return host.device.last_error;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    Host host;
    if (host.fails() || host.stream(stream) == nullptr) {
        return cudaErrorInvalidResourceHandle;
    }
    const CUstream_st *on = host.stream(stream);
    *status = on->captured == nullptr ? cudaStreamCaptureStatusNone
              : on->spoiled           ? cudaStreamCaptureStatusInvalidated
                                      : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    Host host;
    if (host.fails() || stream == nullptr || host.stream(stream) == nullptr ||
        stream->captured != nullptr) {
        return cudaErrorInvalidValue;
    }
    stream->captured.reset(new CUgraph_st());
    stream->spoiled = false;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    Host host;
    if (host.fails() || stream == nullptr || host.stream(stream) == nullptr ||
        stream->captured == nullptr) {
        return cudaErrorInvalidValue;
    }
    cudaGraph_t made = stream->captured.release();
    if (stream->spoiled) {
        delete made;
        return cudaErrorStreamCaptureInvalidated;
    }
    *graph = *host.device.graphs.insert(made).first;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    Host host;
    return host.fails() ? cudaErrorMemoryAllocation : Host::make(host.device.events, event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    Host host;
    return host.fails() ? cudaErrorInvalidValue : Host::destroy(host.device.events, event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    Host host;
    if (host.fails() || host.device.events.count(event) == 0 || host.stream(stream) == nullptr) {
        return cudaErrorInvalidResourceHandle;
    }
    event->pending++;
    event->stream = stream;
    return host.put(stream, [event] {
        event->pending--;
        event->came = std::chrono::steady_clock::now();
        return cudaSuccess;
    });
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    Host host;
    if (host.fails() || host.device.events.count(from) == 0 || host.device.events.count(to) == 0 ||
        from->pending > 0 || to->pending > 0) {
        return cudaErrorInvalidResourceHandle;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(to->came - from->came).count();
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    Host host;
    if (host.fails() || host.device.events.count(event) == 0) {
        return cudaErrorInvalidResourceHandle;
    }
    return host.spoils_capture() ? cudaErrorStreamCaptureUnsupported : host.wait(*event);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long) {
    Host host;
    if (host.fails() || host.device.graphs.count(graph) == 0) {
        return cudaErrorInvalidValue;
    }
    Host::make(host.device.executables, executable);
    (*executable)->steps = graph->steps;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    Host host;
    if (host.fails() || host.device.executables.count(executable) == 0) {
        return cudaErrorInvalidValue;
    }
    for (const simt::Step &step : executable->steps) {
        cudaError_t error = host.put(stream, step);
        if (error != cudaSuccess) {
            return error;
        }
    }
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    Host host;
    return host.fails() ? cudaErrorInvalidValue : Host::destroy(host.device.graphs, graph);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    Host host;
    return host.fails() ? cudaErrorInvalidValue
                        : Host::destroy(host.device.executables, executable);
}
