/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory, what may be touched, and asynchronous copies. */
#include <algorithm>
#include <cstring>

#include "kernels/simt/arena.h"
#include "kernels/simt/sanitizer.h"

namespace simt {

static const std::size_t dynamic_alignment = 1024; /* as in cuda_gpu.h; less than a page's */
static const int poison = 0xFF;                    /* a NaN in every floating-point format */

Machine::Arena::Arena()
    : memory_pages(bytes), state_pages(bytes), memory(memory_pages.get()), state(state_pages.get()),
      shadow(memory, bytes) {
    forbid(memory, bytes);
}

Machine::Arena::~Arena() {
    allow(memory, bytes);
}

void Machine::Arena::clear() {
    std::fill(state + guard, state + end, 0);
    shadow.forget(guard, end - guard);
    forbid(memory, bytes);
    end = guard;
    used = 0;
}

std::size_t Machine::Arena::add(std::size_t count, std::size_t alignment) {
    std::size_t place = (end + gap + alignment - 1) / alignment * alignment;
    if (count > max_shared_bytes - used || place + count > guard + room) {
        return 0;
    }
    used += count;
    end = place + count;
    allow(memory + place, count);
    std::memset(memory + place, poison, count);
    mark(place, count, inside, 0);
    return place;
}

void Machine::Arena::mark(std::size_t offset, std::size_t count, unsigned set, unsigned clear) {
    for (std::size_t i = offset; i < offset + count; i++) {
        state[i] = static_cast<unsigned char>((state[i] & ~clear) | set);
    }
}

bool Machine::Arena::all(std::size_t offset, std::size_t count, unsigned set) const {
    return std::all_of(state + offset, state + offset + count,
                       [=](unsigned char one) { return (one & set) == set; });
}

bool Machine::Arena::some(std::size_t offset, std::size_t count, unsigned any) const {
    return std::any_of(state + offset, state + offset + count,
                       [=](unsigned char one) { return (one & any) != 0; });
}

void Machine::begin_shared() {
    arena->clear();
    arrays.clear();
    std::size_t offset = arena->add(config.dynamic_bytes, dynamic_alignment);
    arrays.push_back(Array{nullptr, "dynamic", offset, config.dynamic_bytes});
}

void *Machine::shared_array(const void *site, const char *name, std::size_t bytes,
                            std::size_t alignment) {
    for (const Array &array : arrays) {
        if (array.site == site) {
            return arena->memory + array.offset;
        }
    }
    std::size_t offset = arena->add(bytes, std::max<std::size_t>(alignment, 128));
    if (offset == 0) {
        fail_text(Finding::bad_launch, "no room for the shared array %s: a block has 227 KiB",
                  name);
    }
    arrays.push_back(Array{site, name, offset, bytes});
    return arena->memory + offset;
}

void *Machine::shared_dynamic() {
    return arena->memory + arrays[0].offset;
}

Access Machine::now(int thread, bool atomic) const {
    return Access::of(clocks.epoch(thread), block_number, thread, atomic);
}

void Machine::access(const void *address, std::size_t bytes, bool write, bool atomic, int thread,
                     const void *code) {
    if (bytes == 0) {
        return;
    }
    const char *first = static_cast<const char *>(address);
    if (arena->contains(address)) {
        access_shared(static_cast<std::size_t>(first - arena->memory), bytes, write, atomic, thread,
                      code);
    } else if (!globals.empty() && !own_memory(first, bytes, write, thread)) {
        access_global(first, bytes, write, atomic, thread, code);
    }
}

static Code lower_half(const void *code) {
    return static_cast<Code>(reinterpret_cast<std::uintptr_t>(code));
}

/* "; of it bytes 736 to 767 are not written": the stretch of its array that the byte is in, or the
 * next one behind it. */
std::string Machine::around(std::size_t offset) const {
    for (const Array &array : arrays) {
        std::size_t begin = array.offset, end = array.offset + array.bytes;
        while (offset < end && offset >= begin && arena->all(offset, 1, Arena::written)) {
            offset++;
        }
        if (offset < begin || offset >= end) {
            continue;
        }
        std::size_t first = offset, last = offset;
        while (first > begin && !arena->all(first - 1, 1, Arena::written)) {
            first--;
        }
        while (last + 1 < end && !arena->all(last + 1, 1, Arena::written)) {
            last++;
        }
        return first == begin && last + 1 == end
                   ? std::string("; nothing of it is written")
                   : "; of it bytes " + std::to_string(first - begin) + " to " +
                         std::to_string(last - begin) + " are not written";
    }
    return "";
}

void Machine::access_shared(std::size_t offset, std::size_t bytes, bool write, bool atomic,
                            int thread, const void *code) {
    const char *address = arena->memory + offset;
    if (offset + bytes > Arena::bytes || !arena->all(offset, bytes, Arena::inside)) {
        fail_access(Finding::out_of_bounds_shared,
                    write ? "writes outside of shared memory" : "reads outside of shared memory",
                    address, bytes, thread, code);
    }
    if (arena->some(offset, bytes, Arena::flying)) {
        fail_access(Finding::in_flight,
                    write ? "writes where an asynchronous copy is under way"
                          : "reads what an asynchronous copy has not brought yet",
                    address, bytes, thread, code);
    }
    bool reads = !write || atomic;
    if (instrumented && reads && unwritten.ok() && !arena->all(offset, bytes, Arena::written)) {
        describe_access(unwritten, Finding::uninitialized_shared,
                        "reads shared memory that nobody wrote", address, bytes, thread, code);
        unwritten.text += around(offset) + who_ended();
    }
    Conflict conflict;
    if (arena->shadow.access(offset, bytes, write, now(thread, atomic), lower_half(code), clocks,
                             false, conflict)) {
        fail_race(true, address, bytes, write, thread, conflict, code);
    }
    if (write) {
        arena->mark(offset, bytes, Arena::written, 0);
    }
}

static bool within(const char *address, std::size_t bytes, const void *memory, std::size_t size) {
    std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(memory);
    return offset < size && bytes <= size - offset;
}

/* On the thread's own stack, or a parameter of the kernel. */
bool Machine::own_memory(const char *address, std::size_t bytes, bool write, int thread) const {
    const Context &context = threads[thread].context;
    return within(address, bytes, context.stack, context.stack_bytes) ||
           (!write && within(address, bytes, call.parameters, call.bytes));
}

void Machine::access_global(const char *address, std::size_t bytes, bool write, bool atomic,
                            int thread, const void *code) {
    for (Global &global : globals) {
        const Buffer &buffer = *global.buffer;
        if (!within(address, bytes, buffer.data, buffer.bytes)) {
            continue;
        }
        if (write && !buffer.writable) {
            fail_access(Finding::write_to_constant, "writes to a buffer declared as read only",
                        address, bytes, thread, code);
        }
        std::size_t offset =
            static_cast<std::size_t>(address - static_cast<const char *>(buffer.data));
        Conflict conflict;
        if (global.shadow.access(offset, bytes, write, now(thread, atomic), lower_half(code),
                                 clocks, config.blocks_race, conflict)) {
            fail_race(false, address, bytes, write, thread, conflict, code);
        }
        return;
    }
    fail_access(Finding::out_of_bounds_global,
                write ? "writes outside of the declared buffers"
                      : "reads outside of the declared buffers",
                address, bytes, thread, code);
}

/* For the running thread. Nothing is handed over by places in shared memory, because each block has
 * others. */
void Machine::atomic(const void *address, std::size_t bytes, const void *code) {
    bool global = !arena->contains(address);
    if (global) {
        clocks.begin_atomic(running);
    }
    access(address, bytes, true, true, running, code);
    if (global) {
        clocks.end_atomic(running, reinterpret_cast<std::uintptr_t>(address));
    }
}

/* From now on the bytes count as written; they are poisoned, and in flight until the wait. */
void Machine::copy_async(const Copy &copy) {
    std::size_t bytes = static_cast<std::size_t>(copy.bytes);
    if (!arena->contains(copy.to)) {
        fail_access(Finding::out_of_bounds_shared,
                    "copies asynchronously to what is not shared memory", copy.to, bytes, running,
                    copy.code);
    }
    if (reinterpret_cast<std::uintptr_t>(copy.to) % bytes != 0 ||
        (copy.used > 0 && reinterpret_cast<std::uintptr_t>(copy.from) % bytes != 0)) {
        fail_access(Finding::misaligned, "copies asynchronously from or to a misaligned address",
                    copy.to, bytes, running, copy.code);
    }
    access(copy.from, static_cast<std::size_t>(copy.used), false, false, running, copy.code);
    access(copy.to, bytes, true, false, running, copy.code);
    std::size_t offset = static_cast<std::size_t>(copy.to - arena->memory);
    arena->mark(offset, bytes, Arena::flying, Arena::written);
    std::memset(copy.to, poison, bytes);
    threads[running].copies.push_back(copy);
}

void Machine::finish_copy(const Copy &copy) {
    std::size_t bytes = static_cast<std::size_t>(copy.bytes);
    std::size_t used = static_cast<std::size_t>(copy.used);
    arena->mark(static_cast<std::size_t>(copy.to - arena->memory), bytes, 0, Arena::flying);
    access(copy.from, used, false, false, running, copy.code);
    access(copy.to, bytes, true, false, running, copy.code);
    std::memcpy(copy.to, copy.from, used);
    std::memset(copy.to + used, 0, bytes - used);
}

/* Completes the copies of the first `groups` commits. */
void Machine::finish_copies(Thread &thread, unsigned groups) {
    std::size_t done = 0;
    while (done < thread.copies.size() && thread.copies[done].group < groups) {
        finish_copy(thread.copies[done++]);
    }
    thread.copies.erase(thread.copies.begin(),
                        thread.copies.begin() + static_cast<std::ptrdiff_t>(done));
}

} // namespace simt
