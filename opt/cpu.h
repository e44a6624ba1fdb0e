/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor can do and the system lets it do (x86-64). */
#ifndef CHUNKPROOF_OPT_CPU_H
#define CHUNKPROOF_OPT_CPU_H

#include <cpuid.h>

enum opt_register { OPT_EAX, OPT_EBX, OPT_ECX, OPT_EDX };

/* A bit of CPUID. */
static inline int opt_cpu_has(unsigned leaf, enum opt_register which, int bit) {
    unsigned word[4];
    return __get_cpuid_count(leaf, 0, &word[0], &word[1], &word[2], &word[3]) != 0 &&
           (word[which] >> bit & 1U) != 0;
}

/* Does the system save these registers when it changes from one thread to another (XCR0)? 2: of
 * SSE, 4: of AVX, 0xE0: of AVX-512, 0x60000: of AMX. */
static inline int opt_cpu_saves(unsigned wanted) {
    unsigned low, high;
    if (!opt_cpu_has(1, OPT_ECX, 27)) {
        return 0;
    }
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & wanted) == wanted;
}

/* AMX and its products of bfloat16. Linux gives a process the registers when the process asks for
 * them, arch_prctl(0x1023, 18) (ARCH_REQ_XCOMP_PERM, of the data of tiles), and answers a second
 * request in the same way. Signals then have larger frames: opt.h. */
static inline int opt_cpu_grants_amx(void) {
#if defined(__linux__)
    long answer = 158; /* arch_prctl */
    if (!opt_cpu_saves(0x60000) || !opt_cpu_has(7, OPT_EDX, 22) || !opt_cpu_has(7, OPT_EDX, 24)) {
        return 0;
    }
    __asm__ volatile("syscall" : "+a"(answer) : "D"(0x1023L), "S"(18L) : "rcx", "r11", "memory");
    return answer == 0;
#else
    return 0;
#endif
}

#endif
