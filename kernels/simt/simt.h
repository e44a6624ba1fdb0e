/* SPDX-License-Identifier: Apache-2.0 */
/* Runs CUDA C++ kernels on the CPU under checks: launch() does what <<<...>>> does on a GPU. A
 * kernel includes kernels/simt/cuda.h; the program that launches it includes this file.
 * kernels/simt/README.md says what is checked and what is not.
 *
 * A launch runs on the calling operating-system thread and is over when launch() returns.
 * Several of these threads may launch at the same time. The only state that is kept is a
 * thread-local pointer to the running launch. */
#ifndef CHUNKPROOF_KERNELS_SIMT_H
#define CHUNKPROOF_KERNELS_SIMT_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/simt/vector.h"

namespace simt {

/* The first thing that a launch found wrong; the launch ends there. */
enum class Finding {
    none,
    race_shared,          /* two threads of a block; one writes, and nothing orders them */
    race_global,          /* the same on a declared buffer, in one block or in two */
    in_flight,            /* access to bytes that a copy still writes: a missing wait */
    out_of_bounds_shared, /* in no shared array of the block */
    out_of_bounds_global, /* in no declared buffer, nor in other memory that it may access */
    write_to_constant,    /* a write to a buffer declared as read only */
    uninitialized_shared, /* a read of shared bytes that nobody wrote in this block */
    misaligned,           /* an asynchronous copy, ldmatrix or atomic at a misaligned address */
    barrier_divergence,   /* a barrier that cannot complete, or differs between threads */
    warp_divergence,      /* lanes of a warp at different collectives, or masks that disagree */
    inactive_lane,        /* a shuffle reads a lane that takes no part */
    step_limit,           /* an endless loop, or a limit that is too small */
    bad_launch,           /* the configuration is not one that a GPU takes */
};

/* Its name, as it stands above. */
const char *finding_name(Finding finding);

/* Global memory that the kernel may access. Once a buffer is declared, an access to anything
 * else but the block's shared memory, the thread's own stack and the kernel's parameters is
 * out_of_bounds_global. The caller keeps the memory. */
struct Buffer {
    const char *name;
    const void *data;
    std::size_t bytes;
    bool writable;
};

/* A launch. Sizes are in threads, blocks and bytes, as on a GPU. */
struct Config {
    dim3 grid;                     /* blocks */
    dim3 block;                    /* threads of a block, at most 1024 */
    std::size_t dynamic_bytes = 0; /* what SIMT_SHARED_DYNAMIC gets */
    std::uint64_t seed = 0;        /* order of threads and blocks: 0 ascending, else permuted */
    std::uint64_t step_limit =
        200 * 1000 * 1000; /* checked accesses and collectives, all threads */
    /* How many accesses a thread makes before another thread runs, so that a loop that waits for
     * another thread ends. 0: a thread runs until it waits. */
    std::uint32_t slice = 4096;
    bool shuffles_order_memory =
        true;                /* false: of the collectives of a warp only __syncwarp() does */
    bool blocks_race = true; /* false: accesses of two blocks are not compared */
    std::vector<Buffer> buffers;
};

/* The result of a launch. `text` says everything else in one sentence. */
struct Report {
    Finding finding = Finding::none;
    std::string text;
    uint3 block = {0, 0, 0};       /* where it was found, */
    int thread = -1;               /* linear in the block, -1: none */
    uint3 other_block = {0, 0, 0}; /* and who else is in a race */
    int other_thread = -1;
    const void *address = nullptr;    /* of the access, */
    std::size_t size = 0;             /* in bytes */
    const void *code = nullptr;       /* the instruction after it, when known, */
    const void *other_code = nullptr; /* and after the other access */
    std::uint64_t steps = 0;          /* checked accesses and collectives */
    std::uint64_t switches = 0;       /* how often a thread was resumed */

    bool ok() const {
        return finding == Finding::none;
    }
};

/* A kernel with its parameters, as run() calls it; launch() makes one. */
struct Call {
    void (*invoke)(void *parameters);
    void *parameters;
    std::size_t bytes;
};

/* Runs a call; launch() is the way to it. */
Report run(const Config &config, const Call &call);

/* Runs kernel(arguments...) for each thread of each block. The kernel gets copies of the
 * arguments. After a finding the launch stops, and destructors of a thread's variables are not
 * run. */
template <class... P, class... A>
Report launch(const Config &config, void (*kernel)(P...), A &&...arguments) {
    struct Bound {
        void (*kernel)(P...);
        std::tuple<P...> parameters;
    } bound = {kernel, std::tuple<P...>(std::forward<A>(arguments)...)};
    auto invoke = [](void *parameters) {
        Bound *call = static_cast<Bound *>(parameters);
        std::apply(call->kernel, call->parameters);
    };
    return run(config, Call{invoke, &bound, sizeof bound});
}

} // namespace simt

#endif
