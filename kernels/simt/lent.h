/* SPDX-License-Identifier: Apache-2.0 */
/* For a program that has loaded an object with CUDA kernels and this executor in it: a device, and
 * what the program cannot ask through CUDA's own functions. It is C, because the program looks
 * these functions up by name. */
#ifndef CHUNKPROOF_KERNELS_SIMT_LENT_H
#define CHUNKPROOF_KERNELS_SIMT_LENT_H

#include <stddef.h>

/* What simt_found() returns. */
#define SIMT_NOTHING       0
#define SIMT_OUT_OF_BOUNDS 1
#define SIMT_WROTE_INPUT   2
#define SIMT_RACED         3 /* or accessed bytes that an asynchronous copy was still writing */
#define SIMT_ENDLESS       4
#define SIMT_UNDEFINED                                                                             \
    5 /* other undefined behaviour: divergence, shared memory that nobody wrote, ... */

#ifdef __cplusplus
extern "C" {
#endif

/* Gives this operating-system thread a device. Threads and blocks run in the order of the seed.
 * Earlier findings and declarations are forgotten. */
void simt_begin(unsigned long long seed);

/* Declares an array: the first `bytes` bytes of memory from cudaMalloc(). The rest of that
 * memory may not be accessed. The name is not copied. */
void simt_declare(void *memory, const char *name, size_t bytes, int writable);

/* The first finding since simt_begin(), as a sentence of at most `size` bytes. */
int simt_found(char *text, size_t size);

/* Is there nothing left to do on any stream? */
int simt_is_idle(void);

#ifdef __cplusplus
}
#endif

#endif
