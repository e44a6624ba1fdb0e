/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h for a CPU compiler. __shared__ is not defined: SIMT_SHARED is. Functions of this file take
 * the place of their call in the source as a last, defaulted argument. */
#ifndef CHUNKPROOF_KERNELS_SIMT_CUDA_CPU_H
#define CHUNKPROOF_KERNELS_SIMT_CUDA_CPU_H

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/simt/cuda_bfloat.h"
#include "kernels/simt/cuda_half.h"
#include "kernels/simt/runtime.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__        inline __attribute__((always_inline))
#define __align__(BYTES)       alignas(BYTES)
#define __launch_bounds__(...) /* for the GPU's registers */

#define threadIdx (simt::runtime::thread_index())
#define blockIdx  (simt::runtime::block_index())
#define blockDim  (simt::runtime::block_size())
#define gridDim   (simt::runtime::grid_size())

constexpr int warpSize = 32;

/* A reference to the block's array. The declaration has an address of its own, which tells
 * arrays apart, even those of two instances of a template. */
#define SIMT_UNROLL

#define SIMT_SHARED(TYPE, NAME, ...)                                                               \
    static const char NAME##_site = 0;                                                             \
    using NAME##_type = TYPE __VA_ARGS__;                                                          \
    NAME##_type &NAME = *static_cast<NAME##_type *>(simt::runtime::shared_array(                   \
        &NAME##_site, #NAME, sizeof(NAME##_type), alignof(NAME##_type)))

#define SIMT_SHARED_DYNAMIC(TYPE, NAME)                                                            \
    TYPE *NAME = static_cast<TYPE *>(simt::runtime::shared_dynamic())

inline void __syncthreads(simt::Where where = simt::Where::here()) {
    simt::runtime::barrier("__syncthreads", 0, 0, where);
}

inline int __syncthreads_count(int predicate, simt::Where where = simt::Where::here()) {
    return simt::runtime::count("__syncthreads_count", predicate != 0, where);
}

inline int __syncthreads_or(int predicate, simt::Where where = simt::Where::here()) {
    return static_cast<int>(simt::runtime::count("__syncthreads_or", predicate != 0, where) != 0);
}

inline int __syncthreads_and(int predicate, simt::Where where = simt::Where::here()) {
    return static_cast<int>(simt::runtime::count("__syncthreads_and", predicate == 0, where) == 0);
}

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, simt::Where where = simt::Where::here()) {
    simt::runtime::sync_warp(mask, where);
}

/* The thread's next atomics hand over what precedes the fence. */
inline void __threadfence() {
    simt::runtime::fence();
}

inline void __threadfence_system() {
    __threadfence();
}

inline void __threadfence_block() {}

namespace simt {

template <class T>
inline T shuffle(runtime::Shuffle kind, unsigned mask, T value, int operand, int width,
                 Where where) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle takes 32 or 64 bits");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = runtime::shuffle(kind, mask, bits, operand, width, where);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace simt

template <class T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32,
                     simt::Where where = simt::Where::here()) {
    return simt::shuffle(simt::runtime::Shuffle::index, mask, value, lane, width, where);
}

template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32,
                        simt::Where where = simt::Where::here()) {
    return simt::shuffle(simt::runtime::Shuffle::up, mask, value, static_cast<int>(by), width,
                         where);
}

template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32,
                          simt::Where where = simt::Where::here()) {
    return simt::shuffle(simt::runtime::Shuffle::down, mask, value, static_cast<int>(by), width,
                         where);
}

template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32,
                         simt::Where where = simt::Where::here()) {
    return simt::shuffle(simt::runtime::Shuffle::exclusive_or, mask, value, with, width, where);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              simt::Where where = simt::Where::here()) {
    return simt::runtime::vote(simt::runtime::Vote::ballot, mask, predicate != 0, where);
}

inline int __any_sync(unsigned mask, int predicate, simt::Where where = simt::Where::here()) {
    return static_cast<int>(
        simt::runtime::vote(simt::runtime::Vote::any, mask, predicate != 0, where));
}

inline int __all_sync(unsigned mask, int predicate, simt::Where where = simt::Where::here()) {
    return static_cast<int>(
        simt::runtime::vote(simt::runtime::Vote::all, mask, predicate != 0, where));
}

/* Only the calling lane, which is all that the programming model promises. */
inline unsigned __activemask() {
    return simt::runtime::active_mask();
}

/* Each returns the value before. In atomic.cpp. */
int atomicAdd(int *address, int value);
unsigned atomicAdd(unsigned *address, unsigned value);
unsigned long long atomicAdd(unsigned long long *address, unsigned long long value);
float atomicAdd(float *address, float value);
double atomicAdd(double *address, double value);
int atomicMax(int *address, int value);
unsigned atomicMax(unsigned *address, unsigned value);
unsigned long long atomicMax(unsigned long long *address, unsigned long long value);
int atomicMin(int *address, int value);
unsigned atomicMin(unsigned *address, unsigned value);
unsigned long long atomicMin(unsigned long long *address, unsigned long long value);
int atomicSub(int *address, int value);
unsigned atomicSub(unsigned *address, unsigned value);
unsigned atomicInc(unsigned *address, unsigned last); /* 0 after `last` */
unsigned atomicDec(unsigned *address, unsigned last);
int atomicAnd(int *address, int value);
unsigned atomicAnd(unsigned *address, unsigned value);
int atomicOr(int *address, int value);
unsigned atomicOr(unsigned *address, unsigned value);
int atomicXor(int *address, int value);
unsigned atomicXor(unsigned *address, unsigned value);
int atomicExch(int *address, int value);
unsigned atomicExch(unsigned *address, unsigned value);
unsigned long long atomicExch(unsigned long long *address, unsigned long long value);
float atomicExch(float *address, float value);
int atomicCAS(int *address, int expected, int value);
unsigned atomicCAS(unsigned *address, unsigned expected, unsigned value);
unsigned long long atomicCAS(unsigned long long *address, unsigned long long expected,
                             unsigned long long value);

template <class T> inline T __ldg(const T *address) {
    return *address;
}

/* The fast functions take the steps of a GPU: the argument is rounded before the power of two,
 * so the relative error of __expf(x) grows with |x|. Each step is as exact as the C library,
 * where a GPU is off by a unit or two more. */
inline float __expf(float x) {
    return exp2f(x * 0x1.715476p0f);
}

inline float __logf(float x) {
    return log2f(x) * 0x1.62e43p-1f;
}

inline float __log2f(float x) {
    return log2f(x);
}

/* The reciprocal of so large a divisor becomes 0. */
inline float __fdividef(float x, float y) {
    return fabsf(y) > 0x1p126f ? x * 0.0f : x * (1.0f / y);
}

inline float __fmaf_rn(float x, float y, float z) {
    return fmaf(x, y, z);
}

inline float __frcp_rn(float x) {
    return 1.0f / x;
}

inline float rsqrtf(float x) {
    return 1.0f / sqrtf(x);
}

inline unsigned __float_as_uint(float x) {
    unsigned bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline float __uint_as_float(unsigned bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}

inline int __ffs(int x) {
    return __builtin_ffs(x);
}

inline int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}

inline int min(int a, int b) {
    return a < b ? a : b;
}

inline int max(int a, int b) {
    return a > b ? a : b;
}

inline unsigned min(unsigned a, unsigned b) {
    return a < b ? a : b;
}

inline unsigned max(unsigned a, unsigned b) {
    return a > b ? a : b;
}

namespace simt {

inline void bar_sync(int id, int threads, Where where = Where::here()) {
    runtime::barrier("bar.sync", id, threads, where);
}

template <int bytes>
inline void cp_async_zfill(void *to, const void *from, int used, Where where = Where::here()) {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "cp.async takes 4, 8 or 16 bytes");
    runtime::copy_async(to, from, bytes, used, where);
}

template <int bytes> inline void cp_async(void *to, const void *from, Where where = Where::here()) {
    cp_async_zfill<bytes>(to, from, bytes, where);
}

inline void cp_async_commit() {
    runtime::copy_commit();
}

template <int groups> inline void cp_async_wait() {
    static_assert(groups >= 0, "cp.async.wait_group takes a count");
    runtime::copy_wait(groups);
}

inline void cp_async_wait_all() {
    runtime::copy_wait(-1);
}

inline void ldmatrix_x1(unsigned (&to)[1], const void *row, Where where = Where::here()) {
    runtime::load_matrices(to, 1, false, row, where);
}

inline void ldmatrix_x2(unsigned (&to)[2], const void *row, Where where = Where::here()) {
    runtime::load_matrices(to, 2, false, row, where);
}

inline void ldmatrix_x4(unsigned (&to)[4], const void *row, Where where = Where::here()) {
    runtime::load_matrices(to, 4, false, row, where);
}

inline void ldmatrix_x1_trans(unsigned (&to)[1], const void *row, Where where = Where::here()) {
    runtime::load_matrices(to, 1, true, row, where);
}

inline void ldmatrix_x2_trans(unsigned (&to)[2], const void *row, Where where = Where::here()) {
    runtime::load_matrices(to, 2, true, row, where);
}

inline void ldmatrix_x4_trans(unsigned (&to)[4], const void *row, Where where = Where::here()) {
    runtime::load_matrices(to, 4, true, row, where);
}

inline void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                         const float (&c)[4], Where where = Where::here()) {
    runtime::multiply_add(d, a, b, c, where);
}

inline void mma_m16n8k16_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                              const float (&c)[4], Where where = Where::here()) {
    runtime::multiply_add_bfloats(d, a, b, c, where);
}

/* The same in another arithmetic with 16-bit elements, which a GPU does not have. */
inline void mma_m16n8k16(unsigned (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                         const unsigned (&c)[4], runtime::AddProduct add,
                         Where where = Where::here()) {
    runtime::multiply_add(d, a, b, c, add, where);
}

} // namespace simt

#endif
