/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dlfcn.h */

#include "gate/runner/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/lent.h"

#define TO_DEVICE   1 /* cudaMemcpyHostToDevice */
#define FROM_DEVICE 2

/* Around an array on a GPU. */
#define BESIDE ((size_t)4096)

/* ---- Functions by name ---- */

/* Of the object, of what it is linked with, or of the CUDA runtime wherever it is: an object that has the runtime in
 * it does not show its functions. */
static void *find(void *object, const char *name) {
    static const char *const runtimes[] = {"libcudart.so", "libcudart.so.13", "libcudart.so.12"};
    void *function = dlsym(object, name);
    for (size_t i = 0; function == NULL && i < sizeof runtimes / sizeof runtimes[0]; i++) {
        void *runtime = dlopen(runtimes[i], RTLD_NOW | RTLD_LOCAL);
        function = runtime != NULL ? dlsym(runtime, name) : NULL;
    }
    return function;
}

/* C has no cast from a pointer to data to one to a function. */
#define LOOK_UP(function, object, name)                                                            \
    do {                                                                                           \
        void *found = find(object, name);                                                          \
        memcpy(&(function), &found, sizeof found);                                                 \
    } while (0)

static int is_simulated(const struct run_device *d) {
    return d->begin != NULL;
}

int run_device_open(struct run_device *d, void *object, char *text) {
    memset(d, 0, sizeof *d);
    void *begin = dlsym(object, "simt_begin");
    if (begin != NULL) {
        memcpy(&d->begin, &begin, sizeof begin);
        LOOK_UP(d->declare, object, "simt_declare");
        LOOK_UP(d->found, object, "simt_found");
        LOOK_UP(d->is_idle, object, "simt_is_idle");
        d->begin(0);
    }
    LOOK_UP(d->allocate, object, "cudaMalloc");
    LOOK_UP(d->release, object, "cudaFree");
    LOOK_UP(d->copy, object, "cudaMemcpy");
    LOOK_UP(d->fill, object, "cudaMemset");
    LOOK_UP(d->new_stream, object, "cudaStreamCreate");
    LOOK_UP(d->wait, object, "cudaStreamSynchronize");
    LOOK_UP(d->name_error, object, "cudaGetErrorString");
    if (d->allocate == NULL || d->release == NULL || d->copy == NULL || d->fill == NULL ||
        d->new_stream == NULL || d->wait == NULL || d->name_error == NULL) {
        snprintf(text, RUN_TEXT,
                 "the kernel takes device memory, but there is no CUDA runtime: link the kernel "
                 "with -lcudart, or give its source");
        return -1;
    }
    int error = d->new_stream(&d->stream);
    if (error != 0) {
        snprintf(text, RUN_TEXT,
                 "the kernel takes device memory, but the CUDA runtime has no device: %.100s; "
                 "without a GPU give the kernel's source",
                 d->name_error(error));
        return -1;
    }
    return 0;
}

/* ---- Buffers ---- */

static size_t beside(const struct run_device *d) {
    return is_simulated(d) ? 0 : BESIDE;
}

static char *array_of(const struct run_device *d, int buffer) {
    return d->memory[buffer] + beside(d);
}

static int allocate(struct run_device *d, const struct run_place *place, int buffer,
                    const unsigned char *arena, unsigned char poison) {
    size_t bytes = place->bytes + 2 * beside(d) + (place->bytes == 0);
    void *memory = NULL;
    int error = d->allocate(&memory, bytes);
    if (error != 0) {
        return error;
    }
    d->memory[buffer] = memory;
    error = d->fill(memory, poison, bytes);
    if (error == 0 && place->bytes > 0) {
        error = d->copy(array_of(d, buffer), arena + place->begin, place->bytes, TO_DEVICE);
    }
    if (is_simulated(d)) {
        d->declare(memory, run_buffer_names[buffer], place->bytes, !run_read_only(buffer));
    }
    return error;
}

static void release(struct run_device *d) {
    for (int b = 0; b < RUN_BUFFERS; b++) {
        if (d->memory[b] != NULL) {
            (void)d->release(d->memory[b]);
        }
        d->memory[b] = NULL;
    }
}

static void point(const struct run_device *d, const struct run_layout *layout,
                  struct cp_kernel_call *call) {
    void *pointer[RUN_BUFFERS];
    for (int b = 0; b < RUN_BUFFERS; b++) {
        pointer[b] = layout->place[b].absent ? NULL : array_of(d, b);
    }
    run_layout_set(pointer, call);
    call->stream = d->stream;
}

int run_device_enter(struct run_device *d, const struct run_layout *layout,
                     const unsigned char *arena, unsigned char poison, struct cp_kernel_call *call,
                     char *text) {
    if (is_simulated(d)) {
        d->begin(poison);
    }
    for (int b = 0; b < RUN_BUFFERS; b++) {
        int error = allocate(d, &layout->place[b], b, arena, poison);
        error = error != 0 ? error : d->wait(NULL); /* what fills it is the default stream's */
        if (error != 0) {
            snprintf(text, RUN_TEXT, "the device has no room for %s: %.100s", run_buffer_names[b],
                     d->name_error(error));
            release(d);
            return -1;
        }
    }
    point(d, layout, call);
    return 0;
}

/* ---- What came of it ---- */

static enum run_outcome found_by_executor(const struct run_device *d, char *text) {
    static const enum run_outcome outcomes[] = {[SIMT_NOTHING] = RUN_DONE,
                                                [SIMT_OUT_OF_BOUNDS] = RUN_OUT_OF_BOUNDS,
                                                [SIMT_WROTE_INPUT] = RUN_WROTE_INPUT,
                                                [SIMT_RACED] = RUN_RACED,
                                                [SIMT_ENDLESS] = RUN_TIMED_OUT,
                                                [SIMT_UNDEFINED] = RUN_UNDEFINED};
    return is_simulated(d) ? outcomes[d->found(text, RUN_TEXT)] : RUN_DONE;
}

/* GATE-9 */
enum run_outcome run_device_wait(const struct run_device *d, char *text) {
    int error = d->wait(d->stream);
    enum run_outcome outcome = found_by_executor(d, text);
    if (error != 0 && outcome == RUN_DONE) {
        snprintf(text, RUN_TEXT, "CUDA reports an error in the work that it started: %.150s",
                 d->name_error(error));
        outcome = RUN_UNDEFINED;
    }
    if (outcome == RUN_DONE && is_simulated(d) && !d->is_idle()) {
        snprintf(text, RUN_TEXT,
                 "started work on another stream than call->stream: that work was unfinished when "
                 "call->stream was done");
        outcome = RUN_WROTE_LATE;
    }
    return outcome;
}

/* The first byte that is not poison any more, from `from` on; `to` when all are. */
static size_t first_not(const char *bytes, size_t from, size_t to, unsigned char poison) {
    while (from < to && (unsigned char)bytes[from] == poison) {
        from++;
    }
    return from;
}

/* A whole buffer as it is on a GPU now: what lies beside it, and an input. */
static enum run_outcome compare(const struct run_place *place, int buffer, const char *now,
                                const unsigned char *arena, unsigned char poison, char *text) {
    size_t end = BESIDE + place->bytes, all = end + BESIDE;
    size_t before = first_not(now, 0, BESIDE, poison), behind = first_not(now, end, all, poison);
    if (before < BESIDE) {
        snprintf(text, RUN_TEXT, "wrote %zu bytes before the start of %s", BESIDE - before,
                 run_buffer_names[buffer]);
        return RUN_WROTE_BESIDE;
    }
    if (behind < all) {
        snprintf(text, RUN_TEXT, "wrote past the end of %s, at byte %zu of %zu",
                 run_buffer_names[buffer], behind - BESIDE, place->bytes);
        return RUN_WROTE_BESIDE;
    }
    if (run_read_only(buffer) && place->bytes > 0 &&
        memcmp(now + BESIDE, arena + place->begin, place->bytes) != 0) {
        snprintf(text, RUN_TEXT, "wrote to %s, which is read-only", run_buffer_names[buffer]);
        return RUN_WROTE_INPUT;
    }
    return RUN_DONE;
}

static enum run_outcome inspect(const struct run_device *d, const struct run_place *place,
                                int buffer, const unsigned char *arena, unsigned char poison,
                                char *text) {
    size_t bytes = place->bytes + 2 * BESIDE;
    char *now = malloc(bytes);
    enum run_outcome outcome = RUN_UNDEFINED;
    if (now == NULL || d->copy(now, d->memory[buffer], bytes, FROM_DEVICE) != 0) {
        snprintf(text, RUN_TEXT, "%s cannot be read back", run_buffer_names[buffer]);
    } else {
        outcome = compare(place, buffer, now, arena, poison, text);
    }
    free(now);
    return outcome;
}

enum run_outcome run_device_leave(struct run_device *d, const struct run_layout *layout,
                                  unsigned char *arena, unsigned char poison, char *text) {
    enum run_outcome outcome = RUN_DONE;
    for (int b = 0; b < RUN_BUFFERS && outcome == RUN_DONE; b++) {
        const struct run_place *place = &layout->place[b];
        if (!is_simulated(d)) {
            outcome = inspect(d, place, b, arena, poison, text);
        }
        if (outcome == RUN_DONE && !run_read_only(b) && place->bytes > 0 &&
            d->copy(arena + place->begin, array_of(d, b), place->bytes, FROM_DEVICE) != 0) {
            snprintf(text, RUN_TEXT, "%s cannot be read back", run_buffer_names[b]);
            outcome = RUN_UNDEFINED;
        }
    }
    release(d);
    return outcome;
}
