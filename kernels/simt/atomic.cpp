/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic functions. Threads take turns, so a plain load and store is atomic here; the checks are
 * told that the two belong together. */
#include "kernels/simt/cuda_cpu.h"

/* The address after the call, in the kernel. */
#define CODE __builtin_return_address(0)

/* Replaces *address by change(*address). Returns the value before. */
template <class T, class Change> static T replace(const void *code, T *address, Change change) {
    simt::runtime::check_atomic(address, sizeof(T), code);
    T before = *address;
    *address = change(before);
    return before;
}

template <class T> static T add(const void *code, T *address, T value) {
    return replace(code, address, [=](T before) { return before + value; });
}

template <class T> static T greater(const void *code, T *address, T value) {
    return replace(code, address, [=](T before) { return before > value ? before : value; });
}

template <class T> static T less(const void *code, T *address, T value) {
    return replace(code, address, [=](T before) { return before < value ? before : value; });
}

template <class T> static T exchange(const void *code, T *address, T value) {
    return replace(code, address, [=](T) { return value; });
}

template <class T> static T compare_and_swap(const void *code, T *address, T expected, T value) {
    return replace(code, address, [=](T before) { return before == expected ? value : before; });
}

/* Wraps, as on a GPU. */
int atomicAdd(int *address, int value) {
    unsigned by = static_cast<unsigned>(value);
    return replace(CODE, address, [=](int before) {
        return static_cast<int>(static_cast<unsigned>(before) + by);
    });
}

unsigned atomicAdd(unsigned *address, unsigned value) {
    return add(CODE, address, value);
}

unsigned long long atomicAdd(unsigned long long *address, unsigned long long value) {
    return add(CODE, address, value);
}

float atomicAdd(float *address, float value) {
    return add(CODE, address, value);
}

double atomicAdd(double *address, double value) {
    return add(CODE, address, value);
}

int atomicMax(int *address, int value) {
    return greater(CODE, address, value);
}

unsigned atomicMax(unsigned *address, unsigned value) {
    return greater(CODE, address, value);
}

unsigned long long atomicMax(unsigned long long *address, unsigned long long value) {
    return greater(CODE, address, value);
}

int atomicMin(int *address, int value) {
    return less(CODE, address, value);
}

unsigned atomicMin(unsigned *address, unsigned value) {
    return less(CODE, address, value);
}

unsigned long long atomicMin(unsigned long long *address, unsigned long long value) {
    return less(CODE, address, value);
}

int atomicSub(int *address, int value) {
    return replace(CODE, address, [=](int before) {
        return static_cast<int>(static_cast<unsigned>(before) - static_cast<unsigned>(value));
    });
}

unsigned atomicSub(unsigned *address, unsigned value) {
    return replace(CODE, address, [=](unsigned before) { return before - value; });
}

unsigned atomicInc(unsigned *address, unsigned last) {
    return replace(CODE, address,
                   [=](unsigned before) { return before >= last ? 0u : before + 1; });
}

unsigned atomicDec(unsigned *address, unsigned last) {
    return replace(CODE, address, [=](unsigned before) {
        return before == 0 || before > last ? last : before - 1;
    });
}

int atomicAnd(int *address, int value) {
    return replace(CODE, address, [=](int before) { return before & value; });
}

unsigned atomicAnd(unsigned *address, unsigned value) {
    return replace(CODE, address, [=](unsigned before) { return before & value; });
}

int atomicOr(int *address, int value) {
    return replace(CODE, address, [=](int before) { return before | value; });
}

unsigned atomicOr(unsigned *address, unsigned value) {
    return replace(CODE, address, [=](unsigned before) { return before | value; });
}

int atomicXor(int *address, int value) {
    return replace(CODE, address, [=](int before) { return before ^ value; });
}

unsigned atomicXor(unsigned *address, unsigned value) {
    return replace(CODE, address, [=](unsigned before) { return before ^ value; });
}

int atomicExch(int *address, int value) {
    return exchange(CODE, address, value);
}

unsigned atomicExch(unsigned *address, unsigned value) {
    return exchange(CODE, address, value);
}

unsigned long long atomicExch(unsigned long long *address, unsigned long long value) {
    return exchange(CODE, address, value);
}

float atomicExch(float *address, float value) {
    return exchange(CODE, address, value);
}

int atomicCAS(int *address, int expected, int value) {
    return compare_and_swap(CODE, address, expected, value);
}

unsigned atomicCAS(unsigned *address, unsigned expected, unsigned value) {
    return compare_and_swap(CODE, address, expected, value);
}

unsigned long long atomicCAS(unsigned long long *address, unsigned long long expected,
                             unsigned long long value) {
    return compare_and_swap(CODE, address, expected, value);
}
