/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic functions. Threads take turns, so that a plain load and store is atomic; the checks are told
 * that these two are one. */
#include "kernels/simt/cuda_cpu.h"

/* Replaces *address by what `change` makes of it; the value before. */
template <class T, class Change> static T replace(T *address, Change change) {
    simt::runtime::check_atomic(address, sizeof(T));
    T before = *address;
    *address = change(before);
    return before;
}

template <class T> static T add(T *address, T value) {
    return replace(address, [=](T before) { return before + value; });
}

template <class T> static T greater(T *address, T value) {
    return replace(address, [=](T before) { return before > value ? before : value; });
}

template <class T> static T less(T *address, T value) {
    return replace(address, [=](T before) { return before < value ? before : value; });
}

template <class T> static T exchange(T *address, T value) {
    return replace(address, [=](T) { return value; });
}

template <class T> static T compare_and_swap(T *address, T expected, T value) {
    return replace(address, [=](T before) { return before == expected ? value : before; });
}

/* Wraps, as on a GPU. */
int atomicAdd(int *address, int value) {
    unsigned by = static_cast<unsigned>(value);
    return replace(
        address, [=](int before) { return static_cast<int>(static_cast<unsigned>(before) + by); });
}

unsigned atomicAdd(unsigned *address, unsigned value) {
    return add(address, value);
}

unsigned long long atomicAdd(unsigned long long *address, unsigned long long value) {
    return add(address, value);
}

float atomicAdd(float *address, float value) {
    return add(address, value);
}

double atomicAdd(double *address, double value) {
    return add(address, value);
}

int atomicMax(int *address, int value) {
    return greater(address, value);
}

unsigned atomicMax(unsigned *address, unsigned value) {
    return greater(address, value);
}

unsigned long long atomicMax(unsigned long long *address, unsigned long long value) {
    return greater(address, value);
}

int atomicMin(int *address, int value) {
    return less(address, value);
}

unsigned atomicMin(unsigned *address, unsigned value) {
    return less(address, value);
}

int atomicExch(int *address, int value) {
    return exchange(address, value);
}

unsigned atomicExch(unsigned *address, unsigned value) {
    return exchange(address, value);
}

int atomicCAS(int *address, int expected, int value) {
    return compare_and_swap(address, expected, value);
}

unsigned atomicCAS(unsigned *address, unsigned expected, unsigned value) {
    return compare_and_swap(address, expected, value);
}

unsigned long long atomicCAS(unsigned long long *address, unsigned long long expected,
                             unsigned long long value) {
    return compare_and_swap(address, expected, value);
}
