/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread runs when. A thread runs until it waits at a collective, has used up its slice, or
 * ends. Those that can run are resumed in rounds: ascending, or permuted anew for each round. */
#include <algorithm>
#include <new>

#include "kernels/simt/arena.h"
#include "kernels/simt/machine.h"

namespace simt {

static thread_local Machine *machine_running = nullptr;

Machine &current() {
    return *machine_running;
}

bool is_running() {
    return machine_running != nullptr;
}

static std::size_t volume(const dim3 &size) {
    return std::size_t{size.x} * size.y * size.z;
}

/* Refuses to take more memory than there is, whatever the configuration says. */
static std::size_t thread_count(const Config &config) {
    std::size_t count = volume(config.block);
    return count <= max_threads ? count : 0;
}

static void enter_thread() {
    Machine &machine = current();
    context_entered(machine.scheduler());
    machine.thread_main();
}

Machine::Machine(const Config &configuration, const Call &what)
    : config(configuration), threads(thread_count(configuration)),
      alive((threads.size() + warp_size - 1) / warp_size), block_number(0), call(what),
      stacks(threads.empty() ? 1 : threads.size(), stack_bytes), random_state(configuration.seed),
      collectives(alive.size()), arena(std::make_unique<Arena>()) {
    for (const Buffer &buffer : config.buffers) {
        globals.push_back(Global{&buffer, Shadow(buffer.data, buffer.bytes)});
    }
    for (std::size_t i = 0; i < threads.size(); i++) {
        unsigned x = config.block.x;
        unsigned y = config.block.y;
        unsigned number = static_cast<unsigned>(i);
        threads[i].position = {number % x, number / x % y, number / x / y};
    }
}

Machine::~Machine() = default;

std::uint64_t Machine::random() {
    std::uint64_t z = (random_state += 0x9E3779B97F4A7C15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void Machine::permute(std::vector<std::uint32_t> &numbers) {
    for (std::size_t i = numbers.size(); config.seed != 0 && i > 1; i--) {
        std::swap(numbers[i - 1], numbers[random() % i]);
    }
}

bool Machine::acceptable() {
    const char *why = nullptr;
    if (volume(config.block) < 1 || volume(config.block) > max_threads || config.block.z > 64) {
        why = "a block has 1 to 1024 threads, at most 64 in z";
    } else if (volume(config.grid) < 1 || config.grid.x >= Access::blocks ||
               config.grid.y >= Access::blocks || config.grid.z >= Access::blocks ||
               volume(config.grid) >= Access::blocks) {
        why = "a launch has 1 to 2^22 - 1 blocks here";
    } else if (config.dynamic_bytes > max_shared_bytes) {
        why = "a block has at most 227 KiB of shared memory";
    } else if (!stacks.ok()) {
        why = "there is no memory for the threads' stacks";
    }
    if (why != nullptr) {
        report.finding = Finding::bad_launch;
        report.text = std::string("bad launch: ") + why;
    }
    return why == nullptr;
}

void Machine::run() {
    if (!acceptable()) {
        return;
    }
    std::vector<std::uint32_t> order(volume(config.grid));
    for (std::size_t i = 0; i < order.size(); i++) {
        order[i] = static_cast<std::uint32_t>(i);
    }
    permute(order);
    for (std::size_t i = 0; i < order.size() && !stopping; i++) {
        unsigned x = config.grid.x;
        unsigned y = config.grid.y;
        block_number = order[i];
        block = {block_number % x, block_number / x % y, block_number / x / y};
        run_block();
    }
}

void Machine::begin_block() {
    begin_shared();
    clocks.restart(block_number, static_cast<int>(threads.size()));
    ready.clear();
    ended = 0;
    std::fill(alive.begin(), alive.end(), 0);
    for (std::size_t i = 0; i < threads.size(); i++) {
        Thread &thread = threads[i];
        thread.ended = false;
        alive[i / warp_size] |= 1u << i % warp_size;
        thread.place = {};
        thread.copies.clear();
        thread.committed = 0;
        context_start(thread.context, stacks.at(i), stack_bytes, enter_thread);
        ready.push_back(static_cast<std::uint32_t>(i));
    }
}

void Machine::run_block() {
    begin_block();
    while (!stopping && !ready.empty()) {
        run_round();
    }
    if (!stopping && ended < static_cast<int>(threads.size())) {
        divergence();
    }
    if (!stopping) {
        settle();
        stopping = !report.ok();
    }
    unwind();
}

void Machine::run_round() {
    std::vector<std::uint32_t> round;
    round.swap(ready);
    permute(round);
    for (std::size_t i = 0; i < round.size() && !stopping; i++) {
        running = static_cast<int>(round[i]);
        slice_used = 0;
        report.switches++;
        context_switch(home, threads[running].context, false);
    }
}

/* Resumes each thread that is left so that it leaves its stack for good. */
void Machine::unwind() {
    for (std::size_t i = 0; stopping && i < threads.size(); i++) {
        running = static_cast<int>(i);
        if (!threads[i].ended) {
            context_switch(home, threads[i].context, false);
        }
    }
}

void Machine::end_thread() {
    if (!threads[running].ended) {
        threads[running].ended = true;
        alive[running / warp_size] &= ~(1u << running % warp_size);
        ended++;
    }
}

/* A thread's whole life; does not return. */
void Machine::thread_main() {
    Thread &thread = threads[running];
    if (!stopping) {
        executing = false;
        call.invoke(call.parameters);
        executing = true;
        end_thread();
        thread_ended(running);
    }
    end_thread();
    context_switch(thread.context, home, true);
    __builtin_unreachable();
}

void Machine::fail(Finding finding) {
    Thread &thread = threads[running];
    report.finding = finding;
    settle();
    stopping = true;
    end_thread();
    context_switch(thread.context, home, true);
    __builtin_unreachable();
}

void Machine::step() {
    if (++report.steps > config.step_limit) {
        fail_text(Finding::step_limit, "more than %llu steps: an endless loop, or a low limit",
                  static_cast<unsigned long long>(config.step_limit));
    }
}

void Machine::turn() {
    if (config.slice != 0 && ++slice_used >= config.slice) {
        ready.push_back(static_cast<std::uint32_t>(running));
        wait();
    }
}

void Machine::wait() {
    Thread &thread = threads[running];
    context_switch(thread.context, home, false);
    executing = true;
    if (stopping) {
        end_thread();
        context_switch(thread.context, home, true);
    }
}

void Machine::wake(int thread) {
    if (thread != running) {
        ready.push_back(static_cast<std::uint32_t>(thread));
    }
}

Report run(const Config &config, const Call &call) {
    if (machine_running != nullptr) {
        Report nested;
        nested.finding = Finding::bad_launch;
        nested.text = "bad launch: from within a kernel";
        return nested;
    }
    try {
        Machine machine(config, call);
        machine_running = &machine;
        machine.run();
        machine_running = nullptr;
        return machine.report;
    } catch (const std::bad_alloc &) {
        machine_running = nullptr;
        Report empty;
        empty.finding = Finding::bad_launch;
        empty.text = "bad launch: there is no memory to run it";
        return empty;
    }
}

} // namespace simt
