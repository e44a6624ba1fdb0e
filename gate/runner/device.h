/* SPDX-License-Identifier: Apache-2.0 */
/* In the kernel's process: the arrays of a call in the memory of a CUDA device, for a kernel that
 * wants them there.
 *
 * The device is a GPU or the executor of kernels/simt, whichever the kernel's object is linked
 * with: run_device_open() looks up the functions of the CUDA runtime in that object by name. The
 * executor checks each access, and arrays have exactly their size there. On a GPU, arrays have
 * guard bytes around them that the kernel must not change. */
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

/* Looks up all functions, and makes a stream. 0, or -1 after writing what is missing (at most
 * RUN_TEXT bytes). */
int run_device_open(struct run_device *device, void *object, char *text);

/* Allocates all buffers on the device, copies the arena's contents there, and sets the call's
 * pointers. 0, or -1 after writing what is wrong: then there is no verdict. */
int run_device_enter(struct run_device *device, const struct run_layout *layout,
                     const unsigned char *arena, unsigned char poison, struct cp_kernel_call *call,
                     char *text);

/* Waits until the device has done all work. RUN_DONE, or what was found instead, with a
 * sentence. */
enum run_outcome run_device_wait(const struct run_device *device, char *text);

/* Copies the results to the arena and frees the device's memory. Returns as run_device_wait() does:
 * a finding is a byte outside the results that changed. */
enum run_outcome run_device_leave(struct run_device *device, const struct run_layout *layout,
                                  unsigned char *arena, unsigned char poison, char *text);

#endif
