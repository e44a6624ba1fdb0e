/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a GPU with the GPU: the functions of CUDA that the gate calls, over memory of the
 * host. So what the gate does with a GPU is tested where there is none (tests/test_device.c).
 * $FAKE says what the kernel, or the GPU, does that it must not.
 *
 * A stream keeps one piece of work until somebody waits for it. An access where nothing is mapped
 * is an error of the device, from then on. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attention.h"

#define GRANULE         ((size_t)2 << 20)
#define ILLEGAL_ADDRESS 700
#define MOST            40
#define LITTLE_ROOM     ((size_t)32 << 20)

static int fakes(const char *word) {
    const char *wanted = getenv("FAKE");
    return wanted != NULL && strcmp(wanted, word) == 0;
}

/* ---- The device ---- */

enum stream { DEFAULT, OTHER, STREAMS };

static struct {
    struct cp_kernel_call call;
    int is_there;
} work[STREAMS];

static struct { uintptr_t from, to; } mapped[MOST];

static int error; /* of the device, from then on */
static int last;  /* of a call, until somebody asks */

static int is_mapped(uintptr_t address) {
    for (int i = 0; i < MOST; i++) {
        if (mapped[i].from <= address && address < mapped[i].to) {
            return 1;
        }
    }
    return 0;
}

static void set_mapped(uintptr_t from, uintptr_t to, uintptr_t old) {
    for (int i = 0; i < MOST; i++) {
        if (mapped[i].from == old) {
            mapped[i].from = from;
            mapped[i].to = to;
            return;
        }
    }
    abort();
}

static void access_byte(uintptr_t address, int writes) {
    if (!is_mapped(address)) {
        error = ILLEGAL_ADDRESS;
    } else if (writes) {
        *(volatile unsigned char *)address ^= 0xFF; /* NOLINT(performance-no-int-to-ptr) */
    }
}

static void misbehave(const struct cp_kernel_call *call) {
    uintptr_t k = (uintptr_t)call->k, out = (uintptr_t)call->out;
    size_t k_bytes = 2 * (size_t)call->capacity * (size_t)call->k_chunk;
    size_t out_bytes = 2 * (size_t)call->n_rows * (size_t)call->out_row;
    if (fakes("reads-behind-k")) {
        access_byte(k + (k_bytes + 255) / 256 * 256, 0);
    } else if (fakes("reads-before-k")) {
        access_byte(k - 1, 0);
    } else if (fakes("writes-behind-out")) {
        access_byte(out + out_bytes, 1);
    } else if (fakes("writes-before-out")) {
        access_byte(out - 1, 1);
    } else if (fakes("writes-k")) {
        access_byte(k, 1);
    }
}

static int finish(enum stream stream) {
    if (work[stream].is_there && error == 0) {
        each_row(&work[stream].call, attend_row);
        misbehave(&work[stream].call);
    }
    work[stream].is_there = 0;
    return error;
}

static enum stream stream_of(const void *stream) {
    return stream == NULL ? DEFAULT : OTHER;
}

/* ---- What the gate calls ---- */

/* The headers that declare these are not needed to build this. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

int cudaGetLastError(void) {
    int result = last;
    last = 0;
    return result;
}

int cudaMalloc(void **memory, size_t bytes) {
    if (fakes("little-room") && bytes > LITTLE_ROOM) {
        last = 2;
        return last;
    }
    *memory = malloc(bytes);
    set_mapped((uintptr_t)*memory, (uintptr_t)*memory + bytes, 0);
    return *memory == NULL;
}

int cudaFree(void *memory) {
    set_mapped(0, 0, (uintptr_t)memory);
    free(memory);
    return error;
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
    (void)kind;
    if (finish(stream_of(stream)) == 0) {
        memcpy(to, from, bytes);
    }
    return error;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}

int cudaMemsetAsync(void *memory, int byte, size_t bytes, void *stream) {
    (void)stream;
    memset(memory, byte, bytes);
    return error;
}

int cudaMemset(void *memory, int byte, size_t bytes) {
    return cudaMemsetAsync(memory, byte, bytes, NULL);
}

int cudaStreamCreateWithFlags(void **stream, unsigned flags) {
    *stream = &work[OTHER];
    return fakes("no-gpu") ? 100 : flags != 1; /* 1: it waits for no other stream */
}

int cudaStreamCreate(void **stream) {
    return cudaStreamCreateWithFlags(stream, 0);
}

int cudaStreamSynchronize(void *stream) {
    return finish(stream_of(stream));
}

int cudaDeviceSynchronize(void) {
    (void)finish(DEFAULT);
    (void)finish(OTHER);
    error = fakes("fails-elsewhere") ? ILLEGAL_ADDRESS : error;
    return error;
}

const char *cudaGetErrorString(int number) {
    return number == ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
           : number == 2             ? "out of memory"
                                     : "no device";
}

int cuCtxGetDevice(int *number) {
    *number = 0;
    return 0;
}

int cuMemGetAllocationGranularity(size_t *granule, const void *kind, int option) {
    (void)kind;
    (void)option;
    *granule = GRANULE;
    return getenv("FAKE_FENCES") != NULL ? 801 : 0;
}

int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t at,
                        uint64_t flags) {
    void *none = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *address = (uintptr_t)none;
    return alignment != 0 || at != 0 || flags != 0 || none == MAP_FAILED;
}

int cuMemCreate(uint64_t *memory, size_t bytes, const int *kind, uint64_t flags) {
    *memory = 1;
    return fakes("no-room") || bytes % GRANULE != 0 || kind[0] != 1 || flags != 0 ? 2 : 0;
}

int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t memory, uint64_t flags) {
    set_mapped(address, address + bytes, 0);
    return offset != 0 || memory != 1 || flags != 0;
}

int cuMemSetAccess(uint64_t address, size_t bytes, const int *who, size_t n) {
    void *from = (void *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
    return n != 1 || who[2] != 3 || mprotect(from, bytes, PROT_READ | PROT_WRITE) != 0;
}

int cuMemUnmap(uint64_t address, size_t bytes) {
    (void)bytes;
    set_mapped(0, 0, address);
    return 0;
}

int cuMemRelease(uint64_t memory) {
    return memory != 1;
}

int cuMemAddressFree(uint64_t address, size_t bytes) {
    return munmap((void *)(uintptr_t)address, bytes); /* NOLINT(performance-no-int-to-ptr) */
}

/* ---- The kernel ---- */

static int attend(const struct cp_kernel_call *call) {
    enum stream stream = fakes("other-stream") ? DEFAULT : stream_of(call->stream);
    work[stream].call = *call;
    work[stream].is_there = 1;
    return cudaGetLastError();
}

const struct cp_kernel cp_kernel =
    PLAIN_KERNEL("for a GPU that is not there", .memory = CP_DEVICE_MEMORY,
                 .workspace = scores_of_a_row, .attend = attend);
