/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* syscall */

#include "gate/runner/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gate/runner/runner.h"

#if defined __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#define OTHER_CALLS 0x40000000U /* of x32, which have numbers of their own from here on */

#define LOAD(FIELD)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, FIELD))
#define RETURN(WHAT) BPF_STMT(BPF_RET | BPF_K, WHAT)
/* Skips so many instructions when it is equal, or when it is not. */
#define SKIP_IF(VALUE, N)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, VALUE, N, 0)
#define SKIP_UNLESS(VALUE, N) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, VALUE, 0, N)
#define SKIP_BELOW(VALUE, N)  BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, VALUE, 0, N)

/* Half an argument, the lower half first on these machines. */
#define LOAD_HALF(ARGUMENT, HALF)                                                                  \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[ARGUMENT]) + (HALF))

unsigned run_filter(int on_host) {
#ifdef MACHINE
    const unsigned memory = on_host ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW;
    struct sock_filter code[] = {
        LOAD(arch),
        SKIP_IF(MACHINE, 1),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS),
        LOAD(nr),
        SKIP_BELOW(OTHER_CALLS, 1),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS),
        SKIP_IF(SYS_memfd_create, 1),
        SKIP_UNLESS(SYS_shmget, 1),
        RETURN(memory),
        SKIP_UNLESS(SYS_seccomp, 1),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        SKIP_UNLESS(SYS_prctl, 4),
        LOAD_HALF(0, 0),
        SKIP_UNLESS(PR_SET_SECCOMP, 1),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        RETURN(SECCOMP_RET_ALLOW),
        SKIP_IF(SYS_rt_sigaction, 1),
        RETURN(SECCOMP_RET_ALLOW),
        LOAD_HALF(0, 0),
        SKIP_IF(SIGSEGV, 2),
        SKIP_IF(SIGBUS, 1),
        RETURN(SECCOMP_RET_ALLOW),
        LOAD_HALF(1, 0), /* the new action: without one the old one is asked for */
        SKIP_UNLESS(0, 2),
        LOAD_HALF(1, sizeof(uint32_t)),
        SKIP_IF(0, 1),
        RETURN(SECCOMP_RET_ERRNO), /* error 0, and nothing is done */
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    long done = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
    return done == 0 ? RUN_NO_HANDLERS : 0;
#else
    (void)on_host;
    return 0;
#endif
}
