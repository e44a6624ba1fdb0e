/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simt/fiber.h"

#include <cstdint>
#include <cstring>
#include <sys/mman.h>

#include "kernels/simt/sanitizer.h"

namespace simt {

#ifdef SIMT_HAS_UCONTEXT

static void prepare(Context &context, void *stack, std::size_t bytes, void (*entry)()) {
    getcontext(&context.saved);
    context.saved.uc_stack.ss_sp = stack;
    context.saved.uc_stack.ss_size = bytes;
    context.saved.uc_link = nullptr;
    makecontext(&context.saved, entry, 0);
}

static void jump(Context &from, Context &to) {
    swapcontext(&from.saved, &to.saved);
}

#else

/* simt_switch(void **save, void *load): pushes what the System V ABI asks a function to keep,
 * exchanges the stack pointers, and pops the same: rbp, rbx, r12 .. r15, and the control words of
 * SSE and x87 in one slot. */
extern "C" void simt_switch(void **save, void *load);

asm(R"(
    .text
    .globl simt_switch
    .hidden simt_switch
    .type simt_switch, @function
    .p2align 4
simt_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size simt_switch, . - simt_switch
)");

/* The stack as simt_switch leaves one, so that its `ret` is a call of entry(): from the top a
 * return address of zero, entry, six registers and the control words. At entry the stack pointer is
 * 8 below a multiple of 16, as after any call. */
static void prepare(Context &context, void *stack, std::size_t bytes, void (*entry)()) {
    std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(stack) + bytes) & ~std::uintptr_t{15};
    void **top = reinterpret_cast<void **>(end);
    std::memset(top - 9, 0, 9 * sizeof *top);
    top[-2] = reinterpret_cast<void *>(entry);
    std::uint32_t control[2] = {0, 0};
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(control[0]), "=m"(control[1]));
    std::memcpy(top - 9, control, sizeof control);
    context.stack_pointer = top - 9;
}

static void jump(Context &from, Context &to) {
    simt_switch(&from.stack_pointer, to.stack_pointer);
}

#endif

void context_start(Context &context, void *stack, std::size_t bytes, void (*entry)()) {
    allow(stack, bytes); /* what the last fiber left poisoned there */
    context.stack = stack;
    context.stack_bytes = bytes;
    context.fake_stack = nullptr;
    prepare(context, stack, bytes, entry);
}

void context_switch(Context &from, Context &to, bool last) {
    start_switch(last ? nullptr : &from.fake_stack, to.stack, to.stack_bytes);
    jump(from, to);
    finish_switch(from.fake_stack, nullptr, nullptr);
}

void context_entered(Context &from) {
    finish_switch(nullptr, &from.stack, &from.stack_bytes);
}

static const std::size_t page = 4096;

Stacks::Stacks(std::size_t wanted, std::size_t each) : memory(nullptr), count(wanted), bytes(each) {
    void *got = mmap(nullptr, count * (bytes + page), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) {
        return;
    }
    memory = static_cast<char *>(got);
    for (std::size_t i = 0; i < count; i++) {
        char *lowest = static_cast<char *>(at(i));
        mprotect(lowest - page, page, PROT_NONE);
        registered.push_back(register_stack(lowest, lowest + bytes - 1));
    }
}

Stacks::~Stacks() {
    for (unsigned stack : registered) {
        deregister_stack(stack);
    }
    if (memory != nullptr) {
        allow(memory, count * (bytes + page));
        munmap(memory, count * (bytes + page));
    }
}

bool Stacks::ok() const {
    return memory != nullptr;
}

void *Stacks::at(std::size_t index) const {
    return memory + index * (bytes + page) + page;
}

} // namespace simt
