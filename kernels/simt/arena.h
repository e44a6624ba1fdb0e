/* SPDX-License-Identifier: Apache-2.0 */
/* The shared memory of the running block, with gaps between its arrays that must not be
 * accessed. Internal. */
#ifndef CHUNKPROOF_KERNELS_SIMT_ARENA_H
#define CHUNKPROOF_KERNELS_SIMT_ARENA_H

#include "kernels/simt/machine.h"
#include "kernels/simt/pages.h"

namespace simt {

struct Machine::Arena {
    static constexpr std::size_t guard = 64 * 1024; /* before the first array and after the last */
    static constexpr std::size_t gap = 128;         /* at least, between two */
    static constexpr std::size_t room = 2 * max_shared_bytes;
    static constexpr std::size_t bytes = guard + room + guard;

    /* Of each byte. */
    enum State : unsigned char {
        inside = 1,  /* of an array */
        written = 2, /* in this block */
        flying = 4,  /* an asynchronous copy writes it */
    };

    Pages<char> memory_pages;
    Pages<unsigned char> state_pages;
    char *memory;
    unsigned char *state;
    Shadow shadow;
    std::size_t end = guard; /* of the last array */
    std::size_t used = 0;    /* bytes of all arrays */

    Arena();
    ~Arena();
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    /* Removes all arrays. */
    void clear();
    /* The place of a new array; 0: there is no room. */
    std::size_t add(std::size_t count, std::size_t alignment);
    void mark(std::size_t offset, std::size_t count, unsigned set, unsigned clear);
    bool contains(const void *address) const {
        return reinterpret_cast<std::uintptr_t>(address) -
                   reinterpret_cast<std::uintptr_t>(memory) <
               bytes;
    }
    /* Do the bytes have all of `set`? Do they have some of `any`? */
    bool all(std::size_t offset, std::size_t count, unsigned set) const;
    bool some(std::size_t offset, std::size_t count, unsigned any) const;
};

} // namespace simt

#endif
