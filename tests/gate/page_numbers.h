/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 16 bits and of integers, for kernels page_*.c, mask_*.c, width_*.c and merge_*.c whose
 * author had not seen the gate, and for adapter_*.c. */
#ifndef CHUNKPROOF_TESTS_GATE_PAGE_NUMBERS_H
#define CHUNKPROOF_TESTS_GATE_PAGE_NUMBERS_H

#include <chunkproof/kernel.h>
#include <math.h>
#include <string.h>

#define MOST_D 4096 /* numbers of a head that the gate asks for */
#define LOG2E  1.44269504088896340736F

static inline float h2f(uint16_t x) {
    return (float)cp_fp16_to_double(x);
}

static inline uint16_t f2h(float x) {
    return cp_fp16_from_double((double)x);
}

static inline float b2f(uint16_t x) {
    return (float)cp_bf16_to_double(x);
}

static inline uint16_t f2b(float x) {
    return cp_bf16_from_double((double)x);
}

static inline int imin(int a, int b) {
    return a < b ? a : b;
}

static inline int imax(int a, int b) {
    return a > b ? a : b;
}

static inline int cdiv(int a, int b) {
    return (a + b - 1) / b;
}

#endif
