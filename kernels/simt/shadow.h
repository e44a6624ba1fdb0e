/* SPDX-License-Identifier: Apache-2.0 */
/* Who accessed memory last: a cell for each 2 bytes. */
#ifndef CHUNKPROOF_KERNELS_SIMT_SHADOW_H
#define CHUNKPROOF_KERNELS_SIMT_SHADOW_H

#include <cstddef>
#include <cstdint>

#include "kernels/simt/clock.h"
#include "kernels/simt/pages.h"

namespace simt {

/* Who accesses, in one word: epoch 28 bits, block 22, thread 11, atomic 1, and which bytes of the
 * cell 2. Zero is nobody, since an epoch is at least 1 and the bytes are not 0. */
struct Access {
    std::uint64_t word = 0;

    static constexpr std::uint32_t blocks = 1u << 22; /* how many can be told apart */
    static constexpr std::uint32_t epochs = 1u << 28;

    static Access of(std::uint32_t epoch, std::uint32_t block, int thread, bool atomic) {
        std::uint64_t upper = std::uint64_t{epoch} << 36 | std::uint64_t{block} << 14;
        return {upper | static_cast<std::uint64_t>(thread) << 3 | (atomic ? 4u : 0u)};
    }
    std::uint32_t epoch() const {
        return static_cast<std::uint32_t>(word >> 36);
    }
    std::uint32_t block() const {
        return word >> 14 & (blocks - 1);
    }
    int thread() const {
        return static_cast<int>(word >> 3 & 0x7FF);
    }
    bool atomic() const {
        return (word & 4) != 0;
    }
    unsigned bytes() const {
        return word & 3;
    }
    /* The same thread of the same block. */
    bool same_thread(Access other) const {
        return ((word ^ other.word) >> 3 & ((std::uint64_t{1} << 33) - 1)) == 0;
    }
};

/* The lower half of a code address, 0 for none. The rest of the object is near, so the upper
 * half is known. */
using Code = std::uint32_t;

/* What a race is with. */
struct Conflict {
    Access other;
    bool other_writes;
    Code other_code;
};

class Shadow {
  public:
    /* For that memory, which nobody has touched yet. */
    Shadow(const void *memory, std::size_t size);

    /* Forgets who touched these bytes. */
    void forget(std::size_t offset, std::size_t count);

    /* Records an access that a thread made at `code`; its block is at `clocks`. Returns true when
     * it races; `found` then says with what. */
    bool access(std::size_t offset, std::size_t count, bool write, Access who, Code code,
                const Clocks &clocks, bool across_blocks, Conflict &found);

  private:
    struct Cell {
        Access write;
        Access reads[2]; /* of two threads, even if there were more, all still unordered */
        Code write_code; /* where each was made last */
        Code read_codes[2];
    };
    struct Judge;

    std::uintptr_t base;
    Pages<Cell> cells;

    std::size_t cell_of(std::size_t offset) const {
        return ((base + offset) >> 1) - (base >> 1);
    }
};

} // namespace simt

#endif
