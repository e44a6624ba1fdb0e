/* SPDX-License-Identifier: Apache-2.0 */
/* What threads hand over by atomics, mostly to blocks that run later. For example, each block
 * does `partial = ...; __threadfence(); atomicAdd(&done, 1)`, and the block that gets the last
 * number reads what all the others wrote.
 *
 * A thread that changes a place by an atomic releases there what it did before __threadfence(),
 * and acquires whatever was released there before. The acquiring thread needs no fence: CUDA's
 * own examples have none. */
#ifndef CHUNKPROOF_KERNELS_SIMT_HANDOVER_H
#define CHUNKPROOF_KERNELS_SIMT_HANDOVER_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace simt {

/* For each place, how many releases were acquired: always the first ones. */
using Taken = std::map<std::uintptr_t, std::size_t>;

void take_all(Taken &to, const Taken &from);

/* An epoch for each thread of a block; never changed. */
using Epochs = std::shared_ptr<const std::vector<std::uint32_t>>;

/* A release, by one atomic. */
struct Release {
    std::uint32_t block;
    int thread;
    std::uint32_t epoch; /* of that thread; only its atomic is in it */
    Epochs seen;         /* the last ones that come before */
};

class Handovers {
  public:
    /* `taken`: what the releasing thread had acquired. */
    void release(std::uintptr_t place, Release what, const Taken &taken);

    /* Was anything released at the place? */
    bool released(std::uintptr_t place) const {
        return places.count(place) != 0;
    }
    void take(std::uintptr_t place, Taken &taken) const;

    /* Was what that thread did in `epoch` handed over to a thread that has acquired `taken`? */
    bool handed(const Taken &taken, std::uint32_t block, int thread, std::uint32_t epoch) const;

  private:
    struct Numbered {
        std::size_t number;
        Release what;
    };
    struct Place {
        std::size_t count = 0;
        std::unordered_map<std::uint32_t, std::vector<Numbered>> of_block;
        Taken before; /* what the threads that released here had acquired */
    };
    std::unordered_map<std::uintptr_t, Place> places;
};

} // namespace simt

#endif
