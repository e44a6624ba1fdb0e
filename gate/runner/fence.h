/* SPDX-License-Identifier: Apache-2.0 */
/* In the kernel's process: memory of a GPU with addresses around it that nothing may access, so
 * that an access just outside of an array is an error of the device.
 *
 * By the CUDA driver's virtual memory, whose functions are looked up by name: nothing of CUDA is
 * needed to build this. A device without virtual memory has no fences. */
#ifndef CHUNKPROOF_GATE_RUNNER_FENCE_H
#define CHUNKPROOF_GATE_RUNNER_FENCE_H

#include <stddef.h>
#include <stdint.h>

struct run_fence_place {
    int type, number; /* 1 and the device's number */
};

/* CUmemAllocationProp */
struct run_fence_kind {
    int type, handles;
    struct run_fence_place place;
    void *none;
    unsigned char flags[8];
};

/* CUmemAccessDesc */
struct run_fence_access {
    struct run_fence_place place;
    int access;
};

struct run_fence {
    int (*reserve)(uint64_t *address, size_t bytes, size_t alignment, uint64_t at, uint64_t flags);
    int (*create)(uint64_t *memory, size_t bytes, const struct run_fence_kind *kind,
                  uint64_t flags);
    int (*map)(uint64_t address, size_t bytes, size_t offset, uint64_t memory, uint64_t flags);
    int (*allow)(uint64_t address, size_t bytes, const struct run_fence_access *who, size_t n);
    int (*unmap)(uint64_t address, size_t bytes);
    int (*release)(uint64_t memory);
    int (*give_back)(uint64_t address, size_t bytes);
    struct run_fence_kind kind;
    size_t granule; /* memory comes in multiples of these bytes */
};

/* The addresses reserved, and the memory in their middle: one granule is free on both sides. */
struct run_fenced {
    uint64_t reserved, address, memory;
    size_t bytes; /* of the memory, a multiple of the granule; 0: there is none */
};

/* For the device of this thread's CUDA context. The driver's functions are the object's own, where
 * it has any. 0, or -1: there are no fences here. */
int run_fence_open(struct run_fence *fence, void *object);

/* Memory of at least so many bytes, more than 0. 0, or -1: the device has no room. */
int run_fence_new(const struct run_fence *fence, size_t bytes, struct run_fenced *fenced);

/* Gives it back. Nothing may use it any more. */
void run_fence_free(const struct run_fence *fence, struct run_fenced *fenced);

#endif
