/* SPDX-License-Identifier: Apache-2.0 */
/* Which accesses of the other threads of its block a thread may rely on: vector clocks, shared by
 * threads that know the same, so that a collective of a warp costs 32 numbers and not 32 vectors. */
#ifndef CHUNKPROOF_KERNELS_SIMT_CLOCK_H
#define CHUNKPROOF_KERNELS_SIMT_CLOCK_H

#include <cstdint>
#include <memory>
#include <vector>

namespace simt {

class Clocks {
  public:
    /* A block of so many threads begins: each in epoch 1, none ordered with another. */
    void restart(int threads);

    /* The threads meet: what each did until now comes before what any of them does from now on. */
    void join(const std::vector<int> &threads);

    std::uint32_t epoch(int thread) const {
        return epochs[thread];
    }

    /* What `other` did in `epoch` comes before what `thread` does now. */
    bool ordered(int other, std::uint32_t epoch, int thread) const {
        return other == thread || epoch <= known[thread]->seen[other];
    }

  private:
    struct Known {
        int holders;
        std::vector<std::uint32_t> seen; /* of each thread, the last epoch that comes before */
    };

    Known *take();
    void drop(Known *one);
    Known *common(const std::vector<int> &threads);

    std::vector<std::uint32_t> epochs;
    std::vector<Known *> known; /* of each thread */
    std::vector<std::unique_ptr<Known>> all;
    std::vector<Known *> unused;
};

} // namespace simt

#endif
