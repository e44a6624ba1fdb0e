/* SPDX-License-Identifier: Apache-2.0 */
/* In the other process: the arrays of a call in the memory of a CUDA device, for a kernel that
 * wants them there.
 *
 * The device is a GPU or the executor of kernels/simt, whichever the kernel's object is linked
 * with: the functions of the CUDA runtime are looked up in it by name. On the executor each access
 * is checked, and each array is as long as it is; on a GPU arrays have bytes around them that must
 * stay what they are. */
#ifndef CHUNKPROOF_GATE_RUNNER_DEVICE_H
#define CHUNKPROOF_GATE_RUNNER_DEVICE_H

#include "gate/runner/shared.h"

struct run_device {
    /* The CUDA runtime's; an error is a number that is not 0. */
    int (*allocate)(void **memory, size_t bytes);
    int (*release)(void *memory);
    int (*copy)(void *to, const void *from, size_t bytes, int kind);
    int (*fill)(void *memory, int byte, size_t bytes);
    int (*new_stream)(void **stream);
    int (*wait)(void *stream);
    const char *(*name_error)(int error);

    /* The executor's; NULL on a GPU. */
    void (*begin)(unsigned long long seed);
    void (*declare)(void *memory, const char *name, size_t bytes, int writable);
    int (*found)(char *text, size_t size);
    int (*is_idle)(void);

    void *stream;
    char *memory[RUN_BUFFERS]; /* NULL: none */
};

/* Looks everything up, and makes a stream. 0, or -1 after writing what is missing (at most RUN_TEXT
 * bytes). */
int run_device_open(struct run_device *device, void *object, char *text);

/* Memory for all buffers, with what is in the arena copied there, and the call's pointers. 0, or -1
 * after writing what is wrong: there is no verdict. */
int run_device_enter(struct run_device *device, const struct run_layout *layout,
                     const unsigned char *arena, unsigned char poison, struct cp_kernel_call *call,
                     char *text);

/* Waits until all is done: RUN_DONE, or what was found instead, in a sentence. */
enum run_outcome run_device_wait(const struct run_device *device, char *text);

/* The results go to the arena, and the memory goes. What is found to be changed beside results
 * comes back as above. */
enum run_outcome run_device_leave(struct run_device *device, const struct run_layout *layout,
                                  unsigned char *arena, unsigned char poison, char *text);

#endif
