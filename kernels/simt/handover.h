/* SPDX-License-Identifier: Apache-2.0 */
/* What threads hand over by atomics, most of all to blocks that run later: `partial = ...; __threadfence();
 * atomicAdd(&done, 1)`, and the block that sees the last number reads what all the others wrote.
 *
 * A thread that changes a place by an atomic releases there what __threadfence() put before it, and takes whatever was
 * released there until then. No fence is asked of the one that takes: CUDA's own examples have none. */
#ifndef CHUNKPROOF_KERNELS_SIMT_HANDOVER_H
#define CHUNKPROOF_KERNELS_SIMT_HANDOVER_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace simt {

/* Of places, how many releases were taken: the first ones. */
using Taken = std::map<std::uintptr_t, std::size_t>;

void take_all(Taken &to, const Taken &from);

/* Of each thread of a block, an epoch; never changed. */
using Epochs = std::shared_ptr<const std::vector<std::uint32_t>>;

/* By one atomic. */
struct Release {
    std::uint32_t block;
    int thread;
    std::uint32_t epoch; /* of that thread, in which it did the atomic alone */
    Epochs seen;         /* the last ones that come before */
};

class Handovers {
  public:
    /* The thread that releases had taken so much. */
    void release(std::uintptr_t place, Release what, const Taken &taken);

    /* Was anything? */
    bool released(std::uintptr_t place) const {
        return places.count(place) != 0;
    }
    void take(std::uintptr_t place, Taken &taken) const;

    /* What that thread did in `epoch` was handed over to one that has taken so much. */
    bool handed(const Taken &taken, std::uint32_t block, int thread, std::uint32_t epoch) const;

  private:
    struct Numbered {
        std::size_t number;
        Release what;
    };
    struct Place {
        std::size_t count = 0;
        std::unordered_map<std::uint32_t, std::vector<Numbered>> of_block;
        Taken before; /* what those who released here had taken */
    };
    std::unordered_map<std::uintptr_t, Place> places;
};

} // namespace simt

#endif
