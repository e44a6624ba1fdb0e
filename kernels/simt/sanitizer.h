/* SPDX-License-Identifier: Apache-2.0 */
/* Tells AddressSanitizer and valgrind what they need to know; does nothing without them. */
#ifndef CHUNKPROOF_KERNELS_SIMT_SANITIZER_H
#define CHUNKPROOF_KERNELS_SIMT_SANITIZER_H

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT_ASAN 1
#endif
#endif

#ifdef SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

namespace simt {

/* Bytes that only the executor may touch, until allow(). */
inline void forbid(const void *bytes, std::size_t count) {
#ifdef SIMT_ASAN
    __asan_poison_memory_region(bytes, count);
#else
    (void)bytes;
    (void)count;
#endif
}

inline void allow(const void *bytes, std::size_t count) {
#ifdef SIMT_ASAN
    __asan_unpoison_memory_region(bytes, count);
#else
    (void)bytes;
    (void)count;
#endif
}

inline void start_switch(void **fake_stack, const void *stack, std::size_t bytes) {
#ifdef SIMT_ASAN
    __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
#else
    (void)fake_stack;
    (void)stack;
    (void)bytes;
#endif
}

inline void finish_switch(void *fake_stack, const void **stack, std::size_t *bytes) {
#ifdef SIMT_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, stack, bytes);
#else
    (void)fake_stack;
    (void)stack;
    (void)bytes;
#endif
}

inline unsigned register_stack(const void *lowest, const void *end) {
#ifdef VALGRIND_STACK_REGISTER
    return VALGRIND_STACK_REGISTER(lowest, end);
#else
    (void)lowest;
    (void)end;
    return 0;
#endif
}

inline void deregister_stack(unsigned stack) {
#ifdef VALGRIND_STACK_DEREGISTER
    VALGRIND_STACK_DEREGISTER(stack);
#else
    (void)stack;
#endif
}

} // namespace simt

#endif
