/* SPDX-License-Identifier: Apache-2.0 */
/* A device on the CPU for the host functions of host.h. It exposes what a launcher does wrong:
 *
 * - It defers its work as long as it may: it does a stream's work when somebody waits for it, not
 *   before. So memory that is changed too early is copied with the change.
 * - The host cannot touch its memory, and a kernel may touch nothing else (under the checks of
 *   simt.h).
 * - Memory that was freed is never handed out again, so a pointer into it stays wrong.
 * - Each call can be made to fail.
 * - While a stream is captured nothing may wait; a wait invalidates the capture.
 *
 *     simt::Device device;     the current device of this operating-system thread, while it exists
 *     device.fail_at = 3;      the third call from now on fails
 *     ...
 *     device.live()            what was allocated and not freed */
#ifndef CHUNKPROOF_KERNELS_SIMT_DEVICE_H
#define CHUNKPROOF_KERNELS_SIMT_DEVICE_H

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/simt/host.h"

namespace simt {

/* One step of a stream; it returns the stream's status. */
typedef std::function<cudaError_t()> Step;

} // namespace simt

struct CUstream_st {
    std::deque<simt::Step> steps;
    std::unique_ptr<CUgraph_st> captured; /* during a capture: where the steps go */
    bool spoiled;                         /* the capture is invalid */
};

struct CUgraph_st {
    std::vector<simt::Step> steps;
};

struct CUgraphExec_st {
    std::vector<simt::Step> steps;
};

struct CUevent_st {
    int pending;         /* records that have not happened yet */
    cudaStream_t stream; /* the last of these in this stream */
    std::chrono::steady_clock::time_point came;
};

namespace simt {

struct Device {
    /* What kind of device it is, and how it launches. */
    int number = 0;
    int capability = 90;
    int multiprocessors = 1;
    std::size_t most_shared = 227 * 1024;
    std::uint64_t seed = 0;
    std::uint64_t step_limit = Config().step_limit;
    int fail_at = 0; /* the call that fails, 1 the next; 0 none */

    /* What has been done. */
    int calls = 0;
    int launches = 0;
    int waits = 0;                /* waits that found work undone */
    int copies = 0;               /* bytes from host to device */
    std::size_t copied_bytes = 0; /* how much */
    int pageable_copies = 0; /* those from memory that is not pinned, which are not asynchronous */
    Report report;           /* the first finding of a kernel */
    cudaError_t last_error = cudaSuccess; /* of a refused launch, until it is asked for */

    Device();
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    std::size_t live() const;

    /* The host functions' own. */
    std::map<char *, std::size_t> memory, pinned;
    std::map<char *, std::size_t> freed; /* addresses that are not handed out again */
    std::map<const void *, std::size_t> allowed_shared; /* of each kernel, beyond 48 KiB */
    std::map<char *, Buffer>
        declared; /* the arrays that some of the memory holds; each other allocation is one array */
    Buffer variables = {nullptr, nullptr, 0,
                        true}; /* those of the kernels' object; 0 bytes: none */
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
    std::set<cudaGraph_t> graphs;
    std::set<cudaGraphExec_t> executables;
    CUstream_st default_stream = {};
    Device *before;
};

} // namespace simt

#endif
