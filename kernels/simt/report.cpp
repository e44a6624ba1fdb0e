/* SPDX-License-Identifier: Apache-2.0 */
/* What a finding says. The text is complete, and owns no memory but the report's, before the thread
 * that caused it leaves its stack. */
#include <cstdarg>
#include <cstdio>
#include <dlfcn.h>

#include "kernels/simt/arena.h"
#include "kernels/simt/machine.h"

namespace simt {

const char *finding_name(Finding finding) {
    switch (finding) {
    case Finding::none:
        return "none";
    case Finding::race_shared:
        return "race_shared";
    case Finding::race_global:
        return "race_global";
    case Finding::in_flight:
        return "in_flight";
    case Finding::out_of_bounds_shared:
        return "out_of_bounds_shared";
    case Finding::out_of_bounds_global:
        return "out_of_bounds_global";
    case Finding::write_to_constant:
        return "write_to_constant";
    case Finding::uninitialized_shared:
        return "uninitialized_shared";
    case Finding::misaligned:
        return "misaligned";
    case Finding::barrier_divergence:
        return "barrier_divergence";
    case Finding::warp_divergence:
        return "warp_divergence";
    case Finding::inactive_lane:
        return "inactive_lane";
    case Finding::step_limit:
        return "step_limit";
    default:
        return "bad_launch";
    }
}

static std::string block_name(uint3 block) {
    return "block (" + std::to_string(block.x) + "," + std::to_string(block.y) + "," +
           std::to_string(block.z) + ")";
}

std::string Machine::thread_name(uint3 in_block, int thread) const {
    return block_name(in_block) + " thread " + std::to_string(thread);
}

std::string Machine::place_name(const Place &place) const {
    if (place.name == nullptr) {
        return "its start";
    }
    return std::string(place.name) + " at " + place.where.file + ":" +
           std::to_string(place.where.line);
}

/* The array or buffer in which the address lies, or which is nearest, and the distance from its
 * begin in bytes. */
std::string Machine::memory_name(const void *address) const {
    std::intptr_t place = reinterpret_cast<std::intptr_t>(address);
    std::intptr_t nearest = INTPTR_MAX;
    std::string name = "unknown memory";
    auto consider = [&](const char *label, const void *memory, std::size_t bytes) {
        std::intptr_t base = reinterpret_cast<std::intptr_t>(memory);
        std::intptr_t end = base + static_cast<std::intptr_t>(bytes);
        std::intptr_t away = place < base ? base - place : place < end ? 0 : place - end + 1;
        if (memory != nullptr && away < nearest) {
            nearest = away;
            name = std::string(label) + (place < base ? "" : "+") + std::to_string(place - base) +
                   " (" + std::to_string(bytes) + " bytes)";
        }
    };
    if (arena->contains(address)) {
        for (const Array &array : arrays) {
            consider(array.name, arena->memory + array.offset, array.bytes);
        }
        return name;
    }
    for (const Global &global : globals) {
        consider(global.buffer->name, global.buffer->data, global.buffer->bytes);
    }
    return name;
}

/* The whole address: the code lies in the kernel's object, near the function that calls the
 * kernel. */
const void *Machine::whole(Code code) const {
    std::uintptr_t near = reinterpret_cast<std::uintptr_t>(call.invoke);
    auto away = static_cast<std::int32_t>(code - static_cast<Code>(near));
    return code == 0 ? nullptr
                     : reinterpret_cast<const void *>(
                           near + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(away)));
}

/* " in code+0x1a2b": the place of the instruction before it in its object, for addr2line. */
std::string Machine::code_name(const void *code) const {
    Dl_info object;
    char text[32];
    if (code == nullptr || dladdr(code, &object) == 0) {
        return "";
    }
    std::snprintf(text, sizeof text, " in code+0x%zx",
                  static_cast<std::size_t>(static_cast<const char *>(code) -
                                           static_cast<const char *>(object.dli_fbase)) -
                      1);
    return text;
}

void Machine::fail_text(Finding finding, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report.text = std::string(finding_name(finding)) + ": " + block_name(block) + ": " + text;
    report.block = block;
    report.thread = running;
    fail(finding);
}

void Machine::describe_access(Report &to, Finding finding, const char *what, const void *address,
                              std::size_t bytes, int thread, const void *code) const {
    to.finding = finding;
    to.block = block;
    to.thread = thread;
    to.address = address;
    to.size = bytes;
    to.code = code;
    to.text = std::string(finding_name(finding)) + ": " + thread_name(block, thread) + " " + what +
              ": " + std::to_string(bytes) + " bytes at " + memory_name(address) + code_name(code) +
              ", after " + place_name(threads[thread].place);
}

void Machine::fail_access(Finding finding, const char *what, const void *address, std::size_t bytes,
                          int thread, const void *code) {
    describe_access(report, finding, what, address, bytes, thread, code);
    fail(finding);
}

/* A read of shared bytes that nobody wrote is held back until the block ends or something else is
 * found. Only a race takes precedence: it is why the bytes were not there yet. */
void Machine::settle() {
    if (!unwritten.ok() && report.finding != Finding::race_shared) {
        unwritten.steps = report.steps;
        unwritten.switches = report.switches;
        report = unwritten;
    }
}

void Machine::fail_race(bool shared, const void *address, std::size_t bytes, bool write, int thread,
                        const Conflict &conflict, const void *code) {
    Finding finding = shared ? Finding::race_shared : Finding::race_global;
    std::uint32_t number = conflict.other.block();
    unsigned x = config.grid.x;
    unsigned y = config.grid.y;
    report.block = block;
    report.thread = thread;
    report.other_block = {number % x, number / x % y, number / x / y};
    report.other_thread = conflict.other.thread();
    report.address = address;
    report.size = bytes;
    report.code = code;
    report.other_code = whole(conflict.other_code);
    report.text = std::string(finding_name(finding)) + ": " + thread_name(block, thread) + " of " +
                  std::to_string(threads.size()) + (write ? " writes " : " reads ") +
                  std::to_string(bytes) + " bytes at " + memory_name(address) + code_name(code) +
                  ", after " + place_name(threads[thread].place) + "; " +
                  thread_name(report.other_block, report.other_thread) +
                  (conflict.other_writes ? " wrote" : " read") + " there" +
                  code_name(report.other_code) + ", and nothing orders the two";
    fail(finding);
}

/* "; threads 32-127 have ended", or nothing. */
std::string Machine::who_ended() const {
    std::string text;
    for (std::size_t i = 0; i < threads.size() && text.size() < 100; i++) {
        std::size_t first = i;
        while (i < threads.size() && threads[i].ended) {
            i++;
        }
        if (i > first) {
            text += (text.empty() ? "; threads " : ", ") + std::to_string(first) +
                    (i - first > 1 ? "-" + std::to_string(i - 1) : "");
        }
    }
    return text.empty() ? text : text + " have ended";
}

/* "threads 0-31 wait at ...; threads 32-63 have ended". */
std::string Machine::who_waits() const {
    auto state = [&](std::size_t i) {
        return threads[i].ended ? std::string("ended") : "wait at " + place_name(threads[i].place);
    };
    std::string text;
    for (std::size_t i = 0; i < threads.size() && text.size() < 900;) {
        std::size_t end = i + 1;
        while (end < threads.size() && state(end) == state(i)) {
            end++;
        }
        text += (i == 0 ? "threads " : "; ") + std::to_string(i) +
                (end - i > 1 ? "-" + std::to_string(end - 1) : "") + " " + state(i);
        i = end;
    }
    return text;
}

/* No thread can run and some have not ended. */
void Machine::divergence() {
    bool at_barrier = false;
    for (const Barrier &one : barriers) {
        at_barrier = at_barrier || !one.arrived.empty();
    }
    for (std::size_t i = 0; i < threads.size() && report.thread < 0; i++) {
        report.thread = threads[i].ended ? -1 : static_cast<int>(i);
    }
    report.finding = at_barrier ? Finding::barrier_divergence : Finding::warp_divergence;
    report.block = block;
    report.text = std::string(finding_name(report.finding)) + ": " + block_name(block) +
                  ": nobody can go on: " + who_waits();
}

} // namespace simt
