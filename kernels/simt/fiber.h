/* SPDX-License-Identifier: Apache-2.0 */
/* A fiber: a stack, and the place where it continues. Each CUDA thread runs on a fiber. */
#ifndef CHUNKPROOF_KERNELS_SIMT_FIBER_H
#define CHUNKPROOF_KERNELS_SIMT_FIBER_H

#include <cstddef>
#include <vector>

#if !defined(__x86_64__) || defined(SIMT_UCONTEXT)
#define SIMT_HAS_UCONTEXT 1
#include <ucontext.h>
#endif

namespace simt {

/* Where a fiber, or the scheduler, stopped. */
struct Context {
    void *stack_pointer = nullptr;
    const void *stack = nullptr; /* its lowest byte */
    std::size_t stack_bytes = 0;
    void *fake_stack = nullptr; /* AddressSanitizer's */
#ifdef SIMT_HAS_UCONTEXT
    ucontext_t saved;
#endif
};

/* Makes `context` begin with entry() on that stack, which must not be in use. entry() calls
 * context_entered() first and never returns: its last act is a switch with `last`. */
void context_start(Context &context, void *stack, std::size_t bytes, void (*entry)());

/* Continues with `to`; returns when somebody switches to `from`. `last`: nobody will switch to
 * it. */
void context_switch(Context &from, Context &to, bool last);

/* The first act on a new stack; `from` is the context that switched to it. */
void context_entered(Context &from);

/* Stacks of equal size, each with a page below it that faults. */
class Stacks {
  public:
    Stacks(std::size_t count, std::size_t bytes);
    ~Stacks();
    Stacks(const Stacks &) = delete;
    Stacks &operator=(const Stacks &) = delete;

    /* False: there was no memory for them. */
    bool ok() const;
    void *at(std::size_t index) const;

  private:
    char *memory;
    std::size_t count;
    std::size_t bytes;
    std::vector<unsigned> registered; /* what valgrind calls them */
};

} // namespace simt

#endif
