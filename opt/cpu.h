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

/* Does the system save these registers when it changes from one thread to another (XCR0)? 2: of SSE, 4: of AVX,
 * 0xE0: of AVX-512. */
static inline int opt_cpu_saves(unsigned wanted) {
    unsigned low, high;
    if (!opt_cpu_has(1, OPT_ECX, 27)) {
        return 0;
    }
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & wanted) == wanted;
}

#endif
