/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simt/clock.h"

#include <algorithm>

namespace simt {

void Clocks::restart(int threads) {
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
    return one;
}

void Clocks::drop(Known *one) {
    if (--one->holders == 0) {
        unused.push_back(one);
    }
}

/* What all of them know together, held by exactly these threads. */
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
    joined->holders = count;
    Known *last = first;
    for (int thread : threads) {
        if (known[thread] != last) {
            last = known[thread];
            for (std::size_t i = 0; i < joined->seen.size(); i++) {
                joined->seen[i] = std::max(joined->seen[i], last->seen[i]);
            }
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

} // namespace simt
