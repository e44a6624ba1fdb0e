/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that gcc and clang call for each load and store under -fsanitize=thread, and for
 * one of a type that its address is not aligned for under -fsanitize=alignment. Linked in place of
 * the sanitizers' own, they hand the accesses of kernels to the executor. */
#include <cstdint>
#include <cstring>

#include "kernels/simt/machine.h"

using simt::Finding;
using simt::Machine;

static void touch(const void *address, std::size_t bytes, bool write, const void *code) {
    if (!simt::is_running() || simt::current().executing) {
        return;
    }
    simt::Entry entry;
    Machine &machine = entry.machine;
    machine.instrumented = true;
    machine.step();
    machine.access(address, bytes, write, false, machine.running, code);
    machine.turn();
}

/* What the compilers say of a place in the source and its type (their
 * __ubsan_handle_type_mismatch_v1()). */
struct Mismatch {
    const char *file;
    std::uint32_t line, column;
    const void *type;
    unsigned char log_alignment, kind;
};

#define CODE __builtin_return_address(0)

extern "C" {

void __tsan_init();
void __tsan_func_entry(void *);
void __tsan_func_exit();
void __tsan_vptr_update(void **, void *);
void __tsan_vptr_read(void **);
void __tsan_read_range(void *, std::size_t);
void __tsan_write_range(void *, std::size_t);
void *simt_memcpy(void *, const void *, std::size_t);
void *simt_memmove(void *, const void *, std::size_t);
void *simt_memset(void *, int, std::size_t);
void simt_type_mismatch(const Mismatch *, const void *);

void __tsan_init() {}

void __tsan_func_entry(void *) {
    if (simt::is_running()) {
        simt::current().instrumented = true;
    }
}

void __tsan_func_exit() {}

void __tsan_vptr_update(void **, void *) {}

void __tsan_vptr_read(void **) {}

#define ACCESS(NAME, BYTES, WRITE)                                                                 \
    void NAME(void *address);                                                                      \
    void NAME(void *address) {                                                                     \
        touch(address, BYTES, WRITE, CODE);                                                        \
    }

#define ACCESSES(BYTES)                                                                            \
    ACCESS(__tsan_read##BYTES, BYTES, false)                                                       \
    ACCESS(__tsan_write##BYTES, BYTES, true)                                                       \
    ACCESS(__tsan_unaligned_read##BYTES, BYTES, false)                                             \
    ACCESS(__tsan_unaligned_write##BYTES, BYTES, true)                                             \
    ACCESS(__tsan_volatile_read##BYTES, BYTES, false)                                              \
    ACCESS(__tsan_volatile_write##BYTES, BYTES, true)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void *address, std::size_t bytes) {
    touch(address, bytes, false, CODE);
}

void __tsan_write_range(void *address, std::size_t bytes) {
    touch(address, bytes, true, CODE);
}

/* What an instrumented object calls instead of memcpy() and its like (README.md). */
void *simt_memcpy(void *to, const void *from, std::size_t bytes) {
    touch(from, bytes, false, CODE);
    touch(to, bytes, true, CODE);
    return std::memcpy(to, from, bytes);
}

void *simt_memmove(void *to, const void *from, std::size_t bytes) {
    touch(from, bytes, false, CODE);
    touch(to, bytes, true, CODE);
    return std::memmove(to, from, bytes);
}

/* A GPU takes a vector from a multiple of its alignment alone. */
void simt_type_mismatch(const Mismatch *mismatch, const void *address) {
    if (!simt::is_running() || simt::current().executing) {
        return;
    }
    simt::Entry entry;
    Machine &machine = entry.machine;
    machine.fail_access(Finding::misaligned,
                        "reads or writes what must be aligned to its size, and is not", address,
                        std::size_t{1} << mismatch->log_alignment, machine.running, CODE);
}

void *simt_memset(void *to, int value, std::size_t bytes) {
    touch(to, bytes, true, CODE);
    return std::memset(to, value, bytes);
}
}
