/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* REG_ERR */

#include "gate/runner/fault.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "gate/runner/far.h"

#define HANDLER_STACK ((size_t)256 << 10)

/* An access this far below the end of the stack was meant for the stack: a large frame jumps
 * over its last page. */
#define STACK_SLACK ((unsigned long long)16 << 20)

/* A signal handler takes no arguments. These are set once, before a kernel is loaded. */
static struct run_control *watched;
static stack_t handler_stack;

void run_control_open(struct run_control *control) {
    mprotect(control, run_control_size(), PROT_READ | PROT_WRITE);
}

void run_control_close(struct run_control *control) {
    mprotect(control, run_control_size(), PROT_READ);
}

/* The processor reports the kind of access: on x86-64 in bits 1 (a write) and 4 (an instruction
 * fetch) of the page fault's error code. */
static enum run_access access_of(const ucontext_t *context) {
#if defined(__x86_64__) && defined(REG_ERR)
    unsigned long long error = (unsigned long long)context->uc_mcontext.gregs[REG_ERR];
    return error & 16 ? RUN_JUMPED : error & 2 ? RUN_WROTE : RUN_READ;
#else
    (void)context;
    return RUN_TOUCHED;
#endif
}

static int is_on_device(const struct run_control *control, struct run_fault *fault) {
    for (int b = 0; b < RUN_BUFFERS; b++) {
        unsigned long long from = control->on_device[b];
        size_t bytes = control->current.place[b].bytes;
        if (from != 0 && fault->address - from < bytes) {
            fault->spot = (struct run_spot){b, (long long)(fault->address - from), bytes};
            return 1;
        }
    }
    return 0;
}

static void locate(const struct run_control *control, struct run_fault *fault) {
    unsigned long long call = (uintptr_t)&control->call, merge = (uintptr_t)&control->merge;
    unsigned long long address = fault->address;
    int inside = 0;
    fault->where = is_on_device(control, fault) ? RUN_IN_DEVICE : RUN_ELSEWHERE;
    if (run_far_locate(control, address, &fault->spot, &inside)) {
        fault->where = inside ? RUN_IN_ARENA : RUN_FAR;
    }
    if (address - control->arena < control->arena_size) {
        fault->spot = run_layout_nearest(&control->current, (size_t)(address - control->arena));
        fault->where = fault->spot.buffer >= 0 ? RUN_IN_ARENA : RUN_ELSEWHERE;
    } else if (address - call < sizeof control->call || address - merge < sizeof control->merge) {
        fault->where = RUN_IN_CALL;
    } else if (control->stack - address < control->stack_size + STACK_SLACK) {
        fault->where = RUN_BELOW_STACK;
    }
}

/* Only the first thread that gets here reports. A process that the kernel forked does not
 * report. */
static void on_fault(int number, siginfo_t *info, void *context) {
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    if (getpid() != watched->pid) {
        _exit(1);
    }
    while (atomic_flag_test_and_set(&reported)) {
        pause();
    }
    run_control_open(watched);
    struct run_fault *fault = &watched->fault;
    fault->signal = number;
    fault->code = info->si_code;
    fault->access = access_of(context);
    fault->address = (uintptr_t)info->si_addr;
    locate(watched, fault);
    fault->happened = 1;
    _exit(1);
}

int run_fault_init(struct run_control *control) {
    void *stack =
        mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    watched = control;
    memset(&handler_stack, 0, sizeof handler_stack);
    handler_stack.ss_sp = stack;
    handler_stack.ss_size = HANDLER_STACK;
    return stack == MAP_FAILED ? -1 : 0;
}

void run_fault_arm(void) {
    struct sigaction action;
    sigset_t none;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    sigemptyset(&none);
    sigaltstack(&handler_stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
