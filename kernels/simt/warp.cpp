/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of cuda_cpu.h: indices, barriers, shuffles, votes, copies. */
#include "kernels/simt/machine.h"

namespace simt {
namespace runtime {

uint3 thread_index() {
    return current().threads[current().running].position;
}

uint3 block_index() {
    return current().block;
}

uint3 block_size() {
    const dim3 &size = current().config.block;
    return {size.x, size.y, size.z};
}

uint3 grid_size() {
    const dim3 &size = current().config.grid;
    return {size.x, size.y, size.z};
}

void *shared_array(const void *site, const char *name, std::size_t bytes, std::size_t alignment) {
    Entry entry;
    return entry.machine.shared_array(site, name, bytes, alignment);
}

void *shared_dynamic() {
    Entry entry;
    return entry.machine.shared_dynamic();
}

void barrier(const char *name, int id, int threads, Where where) {
    Entry entry;
    entry.machine.barrier(name, id, threads, where);
}

int count(const char *name, bool predicate, Where where) {
    Entry entry;
    Thread &thread = entry.machine.threads[entry.machine.running];
    thread.vote = predicate ? 1 : 0;
    entry.machine.barrier(name, 0, 0, where);
    return thread.votes;
}

void sync_warp(unsigned mask, Where where) {
    static const char *const name = "__syncwarp";
    Entry entry;
    entry.machine.collective({name, nullptr, false, true, mask, 0}, nullptr, where);
}

struct ShuffleOperand {
    Shuffle kind;
    std::uint64_t bits;
    unsigned operand;
    int width;
    std::uint64_t result;
};

/* PTX ISA, shfl.sync: the lane that `lane` reads; its own when that is not in its segment. */
static int source_lane(const ShuffleOperand &one, int lane) {
    int low = lane & ~(one.width - 1); /* the segment's first and last lane */
    int high = low + one.width - 1;
    int b = static_cast<int>(one.operand & 31);
    switch (one.kind) {
    case Shuffle::up:
        return lane - b < low ? lane : lane - b;
    case Shuffle::down:
        return lane + b > high ? lane : lane + b;
    case Shuffle::exclusive_or:
        return (lane ^ b) > high ? lane : lane ^ b;
    default:
        return low | (b & (one.width - 1));
    }
}

static void serve_shuffle(Machine &machine, const Lanes &lanes) {
    for (int lane = 0; lane < warp_size; lane++) {
        if ((lanes.mask >> lane & 1) == 0) {
            continue;
        }
        ShuffleOperand &one = *static_cast<ShuffleOperand *>(lanes.operands[lane]);
        int source = source_lane(one, lane);
        if ((lanes.mask >> source & 1) == 0) {
            const Place &place = machine.threads[lanes.first + lane].place;
            machine.fail_text(Finding::inactive_lane,
                              "%s at %s:%d: thread %d reads lane %d, which takes no part (lanes "
                              "0x%08x do)",
                              place.name, place.where.file, place.where.line, lanes.first + lane,
                              source, lanes.mask);
        }
        one.result = static_cast<ShuffleOperand *>(lanes.operands[source])->bits;
    }
}

std::uint64_t shuffle(Shuffle kind, unsigned mask, std::uint64_t bits, int operand, int width,
                      Where where) {
    static const char *const names[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync",
                                        "__shfl_xor_sync"};
    Entry entry;
    Machine &machine = entry.machine;
    const char *name = names[static_cast<int>(kind)];
    if (width < 1 || width > warp_size || (width & (width - 1)) != 0) {
        machine.fail_text(Finding::inactive_lane,
                          "%s at %s:%d: the width %d is no power of two to 32", name, where.file,
                          where.line, width);
    }
    ShuffleOperand one = {kind, bits, static_cast<unsigned>(operand), width, 0};
    bool orders = machine.config.shuffles_order_memory;
    machine.collective({name, serve_shuffle, false, orders, mask, 0}, &one, where);
    return one.result;
}

struct VoteOperand {
    Vote kind;
    bool predicate;
    unsigned result;
};

static void serve_vote(Machine &machine, const Lanes &lanes) {
    (void)machine;
    unsigned ballot = 0;
    for (int lane = 0; lane < warp_size; lane++) {
        bool there = (lanes.mask >> lane & 1) != 0;
        if (there && static_cast<VoteOperand *>(lanes.operands[lane])->predicate) {
            ballot |= 1u << lane;
        }
    }
    for (int lane = 0; lane < warp_size; lane++) {
        if ((lanes.mask >> lane & 1) != 0) {
            VoteOperand &one = *static_cast<VoteOperand *>(lanes.operands[lane]);
            one.result = one.kind == Vote::ballot ? ballot
                         : one.kind == Vote::any  ? ballot != 0
                                                  : ballot == lanes.mask;
        }
    }
}

unsigned vote(Vote kind, unsigned mask, bool predicate, Where where) {
    static const char *const names[] = {"__ballot_sync", "__any_sync", "__all_sync"};
    Entry entry;
    Machine &machine = entry.machine;
    VoteOperand one = {kind, predicate, 0};
    bool orders = machine.config.shuffles_order_memory;
    machine.collective({names[static_cast<int>(kind)], serve_vote, false, orders, mask, 0}, &one,
                       where);
    return one.result;
}

/* The least that the programming model promises: the calling lane. */
unsigned active_mask() {
    return 1u << current().running % warp_size;
}

void copy_async(void *to, const void *from, int bytes, int used, Where where) {
    Entry entry;
    Machine &machine = entry.machine;
    Thread &thread = machine.threads[machine.running];
    machine.step();
    thread.place = {"cp_async", where};
    if ((bytes != 4 && bytes != 8 && bytes != 16) || used < 0 || used > bytes) {
        machine.fail_text(Finding::misaligned,
                          "cp_async at %s:%d: %d of %d bytes; it takes 4, 8 or 16", where.file,
                          where.line, used, bytes);
    }
    machine.copy_async({static_cast<char *>(to), static_cast<const char *>(from), bytes, used,
                        thread.committed, __builtin_return_address(0)});
}

void copy_commit() {
    current().threads[current().running].committed++;
}

void copy_wait(int groups) {
    Entry entry;
    Machine &machine = entry.machine;
    machine.step();
    Thread &thread = machine.threads[machine.running];
    if (groups < 0) {
        thread.committed++;
        groups = 0;
    }
    unsigned latest = static_cast<unsigned>(groups);
    machine.finish_copies(thread, thread.committed > latest ? thread.committed - latest : 0);
}

void check_atomic(const void *address, std::size_t bytes, const void *code) {
    Entry entry;
    Machine &machine = entry.machine;
    machine.turn();
    machine.step();
    if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
        machine.fail_access(Finding::misaligned, "makes an atomic access to a misaligned address",
                            address, bytes, machine.running, code);
    }
    machine.atomic(address, bytes, code);
}

void fence() {
    Entry entry;
    entry.machine.clocks.fence(entry.machine.running);
}

} // namespace runtime
} // namespace simt
