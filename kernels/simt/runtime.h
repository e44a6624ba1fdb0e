/* SPDX-License-Identifier: Apache-2.0 */
/* What cuda_cpu.h asks of the executor for a CUDA thread: the functions that implement CUDA's
 * names. Kernels do not call them by these names. */
#ifndef CHUNKPROOF_KERNELS_SIMT_RUNTIME_H
#define CHUNKPROOF_KERNELS_SIMT_RUNTIME_H

#include <cstddef>
#include <cstdint>

#include "kernels/simt/vector.h"

namespace simt {

/* The place of a call in the kernel's source, as a default argument of what is called. */
struct Where {
    const char *file;
    int line;
    static constexpr Where here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

namespace runtime {

/* Constant while a thread runs, so that the compiler may call them once. */
[[gnu::const]] uint3 thread_index();
[[gnu::const]] uint3 block_index();
[[gnu::const]] uint3 block_size();
[[gnu::const]] uint3 grid_size();

/* The block's array of one declaration (`site`), the same for all its threads. */
void *shared_array(const void *site, const char *name, std::size_t bytes, std::size_t alignment);
void *shared_dynamic();

/* Barrier `id` of the block for `threads` threads; 0: all that have not ended. */
void barrier(const char *name, int id, int threads, Where where);

/* Barrier 0 of the block; how many threads come with `predicate`. */
int count(const char *name, bool predicate, Where where);

enum class Shuffle { index, up, down, exclusive_or };

void sync_warp(unsigned mask, Where where);
std::uint64_t shuffle(Shuffle kind, unsigned mask, std::uint64_t bits, int operand, int width,
                      Where where);
enum class Vote { ballot, any, all };
unsigned vote(Vote kind, unsigned mask, bool predicate, Where where);
unsigned active_mask();

/* `count` matrices, 1, 2 or 4; see tensor.cpp. */
void load_matrices(unsigned *to, int count, bool transposed, const void *row, Where where);
void multiply_add(float *d, const unsigned *a, const unsigned *b, const float *c, Where where);
void multiply_add_bfloats(float *d, const unsigned *a, const unsigned *b, const float *c,
                          Where where);

/* The sum plus one more product; a and b have 16 bits. */
typedef unsigned (*AddProduct)(unsigned sum, unsigned a, unsigned b);
void multiply_add(unsigned *d, const unsigned *a, const unsigned *b, const unsigned *c,
                  AddProduct add, Where where);

/* Asynchronous copies; `used` bytes come from the source, the rest of `bytes` is zeros. */
void copy_async(void *to, const void *from, int bytes, int used, Where where);
void copy_commit();
void copy_wait(int groups); /* waits until at most so many latest groups are under way; -1: all */

/* An atomic access, which no instrumented code makes; `code` is behind its call. Does not return
 * when it is wrong. */
void check_atomic(const void *address, std::size_t bytes, const void *code);

/* __threadfence(). */
void fence();

} // namespace runtime
} // namespace simt

#endif
