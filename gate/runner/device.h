/* SPDX-License-Identifier: Apache-2.0 */
/* In the kernel's process: the arrays of a call in the memory of a CUDA device, for a kernel that
 * wants them there.
 *
 * The device is a GPU or the executor of kernels/simt, whichever the kernel's object is linked
 * with: run_device_open() looks up the functions of the CUDA runtime in that object by name. The
 * executor checks each access, and arrays have exactly their size there. On a GPU nothing is mapped
 * behind an array, or before it, as the call's layout says (fence.h); the bytes around it must not
 * change, and neither must a result once the work on the call's stream is done. */
#ifndef CHUNKPROOF_GATE_RUNNER_DEVICE_H
#define CHUNKPROOF_GATE_RUNNER_DEVICE_H

#include "gate/runner/fence.h"
#include "gate/runner/shared.h"

/* Memory of the device with an array in it. */
struct run_device_array {
    char *memory; /* NULL: none */
    size_t bytes, at;
    struct run_fenced fenced; /* what it is in, where there are fences */
};

struct run_device {
    /* The CUDA runtime's; an error is a number that is not 0. */
    int (*allocate)(void **memory, size_t bytes);
    int (*release)(void *memory);
    int (*copy)(void *to, const void *from, size_t bytes, int kind);
    int (*fill)(void *memory, int byte, size_t bytes);
    int (*new_stream)(void **stream, unsigned flags);
    int (*copy_on)(void *to, const void *from, size_t bytes, int kind, void *stream);
    int (*wait)(void *stream);
    const char *(*name_error)(int error);

    /* The CUDA runtime's, on a GPU alone. */
    int (*fill_on)(void *memory, int byte, size_t bytes, void *stream);
    int (*wait_for_all)(void);
    int (*forget_error)(void);

    /* The executor's; NULL on a GPU. */
    void (*begin)(unsigned long long seed);
    void (*declare)(void *memory, const char *name, size_t bytes, int writable);
    int (*found)(char *text, size_t size);
    int (*is_idle)(void);

    void *stream;
    void *busy; /* memory for work of the default stream; NULL: none */
    struct run_fence fence;
    int has_fence;
    struct run_device_array array[RUN_BUFFERS];
};

/* Looks up all functions, and makes a stream. 0, or -1 after writing what is missing (at most
 * RUN_TEXT bytes). */
int run_device_open(struct run_device *device, void *object, char *text);

/* Allocates all buffers on the device, copies the arena's contents there, says where they are, and
 * on a GPU gives the default stream something to do. 0, or -1 after writing what is wrong: then
 * there is no verdict. */
int run_device_enter(struct run_device *device, const struct run_layout *layout,
                     const unsigned char *arena, unsigned char poison, void *pointer[RUN_BUFFERS],
                     char *text);

/* Waits until the device has done all work. RUN_DONE, or what was found instead, with a
 * sentence. */
enum run_outcome run_device_wait(const struct run_device *device, char *text);

/* Copies the results to the arena and frees the device's memory. Returns as run_device_wait() does:
 * a finding is a byte outside the results that changed. */
enum run_outcome run_device_leave(struct run_device *device, const struct run_layout *layout,
                                  unsigned char *arena, unsigned char poison, char *text);

#endif
