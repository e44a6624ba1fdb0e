/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of a block and collectives of a warp. The last thread to arrive does the work and goes
 * on; the others wait until then. */
#include <algorithm>
#include <cstring>

#include "kernels/simt/arena.h"
#include "kernels/simt/machine.h"

namespace simt {

static bool same_place(const Where &a, const Where &b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

/* The members no longer wait. What they did before now precedes what they do from now on. */
void Machine::meet(const std::vector<int> &who, bool orders) {
    if (orders) {
        clocks.join(who);
    }
    for (int thread : who) {
        wake(thread);
    }
}

/* An .aligned instruction: the lanes of each warp execute it together. `who` ascends. */
void Machine::same_instruction(const std::vector<int> &who, Finding finding) {
    for (std::size_t i = 0; i < who.size();) {
        int first = who[i];
        int warp = first / warp_size;
        const Place &place = threads[first].place;
        unsigned arrived = 0;
        for (; i < who.size() && who[i] / warp_size == warp; i++) {
            const Place &other = threads[who[i]].place;
            arrived |= 1u << who[i] % warp_size;
            if (!same_place(place.where, other.where)) {
                fail_text(finding,
                          "%s: lanes of warp %d come from two places, %s:%d (thread %d) and %s:%d "
                          "(thread %d)",
                          place.name, warp, place.where.file, place.where.line, first,
                          other.where.file, other.where.line, who[i]);
            }
        }
        if ((alive[warp] & ~arrived) != 0) {
            fail_text(finding, "%s at %s:%d: only lanes 0x%08x of warp %d come, 0x%08x are there",
                      place.name, place.where.file, place.where.line, arrived, warp, alive[warp]);
        }
    }
}

void Machine::disagree(const Collective &pending, const char *name, Where where) {
    int lane = __builtin_ctz(pending.arrived);
    int other = running / warp_size * warp_size + lane;
    const Place &place = threads[other].place;
    fail_text(
        Finding::warp_divergence,
        "thread %d comes to %s at %s:%d while thread %d of its warp waits for it (lanes 0x%08x) "
        "at %s at %s:%d",
        running, name, where.file, where.line, other, pending.mask, place.name, place.where.file,
        place.where.line);
}

/* The collective that the running lane joins or completes; made if there is none. */
Collective *Machine::joined(std::vector<Collective> &pending, const Collective &kind,
                            unsigned lane_bit) {
    for (Collective &one : pending) {
        if ((one.mask & lane_bit) == 0) {
            continue;
        }
        if (one.mask == kind.mask && one.name == kind.name) {
            return &one;
        }
        if ((one.arrived & kind.mask) != 0) {
            disagree(one, kind.name, threads[running].place.where);
        }
    }
    pending.push_back(kind);
    return &pending.back();
}

void Machine::collective(const Collective &kind, void *operand, Where where) {
    step();
    int warp = running / warp_size;
    unsigned lane_bit = 1u << running % warp_size;
    if ((kind.mask & lane_bit) == 0) {
        fail_text(Finding::warp_divergence, "%s at %s:%d: thread %d is not in its own mask 0x%08x",
                  kind.name, where.file, where.line, running, kind.mask);
    }
    threads[running].place = {kind.name, where};
    threads[running].operand = operand;
    std::vector<Collective> &pending = collectives[warp];
    Collective *one = joined(pending, kind, lane_bit);
    one->arrived |= lane_bit;
    if ((one->mask & alive[warp] & ~one->arrived) == 0) {
        serve(warp, static_cast<std::size_t>(one - pending.data()));
    } else {
        wait();
    }
}

void Machine::serve(int warp, std::size_t which) {
    Collective one = collectives[warp][which];
    collectives[warp].erase(collectives[warp].begin() + static_cast<std::ptrdiff_t>(which));
    Lanes lanes = {warp * warp_size, one.arrived, {}};
    members.clear();
    for (int lane = 0; lane < warp_size; lane++) {
        if ((one.arrived >> lane & 1) != 0) {
            members.push_back(lanes.first + lane);
            lanes.operands[lane] = threads[lanes.first + lane].operand;
        }
    }
    if (one.aligned) {
        same_instruction(members, Finding::warp_divergence);
    }
    if (one.serve != nullptr) {
        one.serve(*this, lanes);
    }
    meet(members, one.orders);
}

void Machine::barrier(const char *name, int id, int count, Where where) {
    step();
    threads[running].place = {name, where};
    if (id < 0 || id >= max_barriers || count < 0 || count % warp_size != 0) {
        fail_text(Finding::barrier_divergence,
                  "%s at %s:%d: barrier %d for %d threads; there are 16, for multiples of 32", name,
                  where.file, where.line, id, count);
    }
    Barrier &one = barriers[id];
    if (!one.arrived.empty() && one.threads != count) {
        fail_text(Finding::barrier_divergence,
                  "%s at %s:%d: thread %d expects %d threads at barrier %d, thread %d expects %d "
                  "(0: all)",
                  name, where.file, where.line, running, count, id, one.arrived[0], one.threads);
    }
    one.threads = count;
    one.arrived.push_back(running);
    std::size_t wanted = count != 0 ? static_cast<std::size_t>(count)
                                    : threads.size() - static_cast<std::size_t>(ended);
    if (one.arrived.size() == wanted) {
        complete_barrier(one);
    } else {
        wait();
    }
}

void Machine::complete_barrier(Barrier &one) {
    members.swap(one.arrived);
    one.arrived.clear();
    std::sort(members.begin(), members.end());
    same_instruction(members, Finding::barrier_divergence);
    int votes = 0;
    for (int thread : members) {
        votes += threads[thread].vote;
    }
    for (int thread : members) {
        threads[thread].vote = 0;
        threads[thread].votes = votes;
    }
    meet(members, true);
}

/* Nobody waits for an ended thread: completes what waited only for it. */
void Machine::thread_ended(int thread) {
    int warp = thread / warp_size;
    for (std::size_t i = 0; i < collectives[warp].size();) {
        const Collective &one = collectives[warp][i];
        if ((one.mask & alive[warp] & ~one.arrived) == 0) {
            serve(warp, i);
        } else {
            i++;
        }
    }
    for (Barrier &one : barriers) {
        if (!one.arrived.empty() && one.threads == 0 &&
            one.arrived.size() == threads.size() - static_cast<std::size_t>(ended)) {
            complete_barrier(one);
        }
    }
}

} // namespace simt
