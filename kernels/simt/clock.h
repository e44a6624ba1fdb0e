/* SPDX-License-Identifier: Apache-2.0 */
/* Which accesses of other threads a thread may rely on. Within a block: vector clocks, which
 * threads with the same knowledge share, so that a collective of a warp costs 32 numbers and not 32
 * vectors. Across blocks: hand-overs. */
#ifndef CHUNKPROOF_KERNELS_SIMT_CLOCK_H
#define CHUNKPROOF_KERNELS_SIMT_CLOCK_H

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/simt/handover.h"

namespace simt {

class Clocks {
  public:
    /* A block of `threads` threads begins; each is in epoch 1, and none is ordered with another. */
    void restart(std::uint32_t block, int threads);

    /* The threads meet: what each did before now precedes what any of them does from now on. */
    void join(const std::vector<int> &threads);

    /* __threadfence() of a thread. */
    void fence(int thread);

    /* Around an atomic's access to the place, in global memory. */
    void begin_atomic(int thread);
    void end_atomic(int thread, std::uintptr_t place);

    std::uint32_t epoch(int thread) const {
        return epochs[thread];
    }

    /* Does what thread `other` of this block did in `epoch` precede what `thread` does now? */
    bool ordered(int other, std::uint32_t epoch, int thread) const {
        return other == thread || epoch <= known[thread]->seen[other];
    }

    /* The same for a thread of any block, by hand-over. */
    bool handed(std::uint32_t of_block, int other, std::uint32_t epoch, int thread) const {
        const Taken &taken = known[thread]->taken;
        return !taken.empty() && handovers.handed(taken, of_block, other, epoch);
    }

  private:
    struct Known {
        int holders;
        std::vector<std::uint32_t> seen; /* for each thread, the last epoch that precedes */
        Epochs fenced;                   /* the part of it before a fence; null: nothing */
        Taken taken;                     /* by atomics */
    };

    Known *take();
    void drop(Known *one);
    Known *common(const std::vector<int> &threads);
    Known *own(int thread);

    std::vector<std::uint32_t> epochs;
    std::vector<Known *> known; /* of each thread */
    std::vector<std::unique_ptr<Known>> all;
    std::vector<Known *> unused;
    std::uint32_t block = 0;
    Handovers handovers;
};

} // namespace simt

#endif
