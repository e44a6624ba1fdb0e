/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simt/handover.h"

#include <algorithm>
#include <utility>

namespace simt {

void take_all(Taken &to, const Taken &from) {
    for (const auto &[place, count] : from) {
        std::size_t &taken = to[place];
        taken = std::max(taken, count);
    }
}

void Handovers::release(std::uintptr_t place, Release what, const Taken &taken) {
    Place &here = places[place];
    std::uint32_t block = what.block;
    here.of_block[block].push_back(Numbered{here.count++, std::move(what)});
    take_all(here.before, taken);
}

void Handovers::take(std::uintptr_t place, Taken &taken) const {
    const Place &here = places.at(place);
    take_all(taken, here.before);
    taken[place] = here.count;
}

bool Handovers::handed(const Taken &taken, std::uint32_t block, int thread,
                       std::uint32_t epoch) const {
    for (const auto &[place, count] : taken) {
        const Place &here = places.at(place);
        auto of_block = here.of_block.find(block);
        if (of_block == here.of_block.end()) {
            continue;
        }
        for (const Numbered &one : of_block->second) {
            bool by_it = one.what.thread == thread && one.what.epoch == epoch;
            if (one.number < count && (by_it || epoch <= (*one.what.seen)[thread])) {
                return true;
            }
        }
    }
    return false;
}

} // namespace simt
