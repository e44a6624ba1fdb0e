/* SPDX-License-Identifier: Apache-2.0 */
/* A device for a program that has loaded an object with CUDA kernels and this executor in it: what the program cannot
 * ask through CUDA's own functions. In C, for it looks these up by name. */
#ifndef CHUNKPROOF_KERNELS_SIMT_LENT_H
#define CHUNKPROOF_KERNELS_SIMT_LENT_H

#include <stddef.h>

/* What simt_found() returns. */
#define SIMT_NOTHING       0
#define SIMT_OUT_OF_BOUNDS 1
#define SIMT_WROTE_INPUT   2
#define SIMT_RACED         3 /* or touched what an asynchronous copy was still writing */
#define SIMT_ENDLESS       4
#define SIMT_UNDEFINED                                                                             \
    5 /* all else that CUDA does not define: divergence, shared memory that nobody wrote, ... */

#ifdef __cplusplus
extern "C" {
#endif

/* This thread of the operating system has a device from now on. Threads and blocks run in the order of the seed; what
 * was found before is forgotten, and so is what was declared. */
void simt_begin(unsigned long long seed);

/* Of what cudaMalloc() gave, the first so many bytes are this array: the rest may not be touched. The name is kept as
 * it is. */
void simt_declare(void *memory, const char *name, size_t bytes, int writable);

/* The first thing that a kernel did wrong since simt_begin(), in a sentence that is cut to `size` bytes. */
int simt_found(char *text, size_t size);

/* Is there nothing left to do on any stream? */
int simt_is_idle(void);

#ifdef __cplusplus
}
#endif

#endif
