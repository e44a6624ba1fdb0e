/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simt/clock.h"

#include <algorithm>

namespace simt {

void Clocks::restart(std::uint32_t block_number, int threads) {
    block = block_number;
    epochs.assign(threads, 1);
    unused.clear();
    for (const auto &one : all) {
        unused.push_back(one.get());
    }
    known.assign(threads, nullptr);
    Known *nothing = take();
    nothing->seen.assign(threads, 0);
    nothing->holders = threads;
    known.assign(threads, nothing);
}

Clocks::Known *Clocks::take() {
    if (unused.empty()) {
        all.push_back(std::make_unique<Known>());
        unused.push_back(all.back().get());
    }
    Known *one = unused.back();
    unused.pop_back();
    one->fenced = nullptr;
    one->taken.clear();
    return one;
}

void Clocks::drop(Known *one) {
    if (--one->holders == 0) {
        unused.push_back(one);
    }
}

/* For each thread, the later of the two epochs. */
static Epochs later(const Epochs &one, const Epochs &other) {
    if (one == nullptr || other == nullptr || one == other) {
        return one == nullptr ? other : one;
    }
    auto both = std::make_shared<std::vector<std::uint32_t>>(*one);
    for (std::size_t i = 0; i < both->size(); i++) {
        (*both)[i] = std::max((*both)[i], (*other)[i]);
    }
    return both;
}

/* What these threads know together, in one record that exactly these threads share. */
Clocks::Known *Clocks::common(const std::vector<int> &threads) {
    Known *first = known[threads[0]];
    bool same = std::all_of(threads.begin(), threads.end(),
                            [&](int thread) { return known[thread] == first; });
    int count = static_cast<int>(threads.size());
    if (same && first->holders == count) {
        return first;
    }
    Known *joined = take();
    joined->seen = first->seen;
    joined->fenced = first->fenced;
    joined->taken = first->taken;
    joined->holders = count;
    Known *last = first;
    for (int thread : threads) {
        if (known[thread] != last) {
            last = known[thread];
            for (std::size_t i = 0; i < joined->seen.size(); i++) {
                joined->seen[i] = std::max(joined->seen[i], last->seen[i]);
            }
            joined->fenced = later(joined->fenced, last->fenced);
            take_all(joined->taken, last->taken);
        }
    }
    for (int thread : threads) {
        drop(known[thread]);
        known[thread] = joined;
    }
    return joined;
}

void Clocks::join(const std::vector<int> &threads) {
    Known *all_of_them = common(threads);
    for (int thread : threads) {
        all_of_them->seen[thread] = epochs[thread]++;
    }
}

/* What the thread knows, in a record that it alone has. */
Clocks::Known *Clocks::own(int thread) {
    return common({thread});
}

/* All that the thread knows precedes the fence, whoever did it. */
void Clocks::fence(int thread) {
    Known *mine = own(thread);
    auto before = std::make_shared<std::vector<std::uint32_t>>(mine->seen);
    (*before)[thread] = epochs[thread]++;
    mine->fenced = before;
}

void Clocks::begin_atomic(int thread) {
    epochs[thread] += known[thread]->fenced != nullptr ? 1 : 0;
}

void Clocks::end_atomic(int thread, std::uintptr_t place) {
    if (handovers.released(place)) {
        handovers.take(place, own(thread)->taken);
    }
    const Known &mine = *known[thread];
    if (mine.fenced != nullptr) {
        handovers.release(place, Release{block, thread, epochs[thread], mine.fenced}, mine.taken);
        epochs[thread]++;
    }
}

} // namespace simt
