/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dlfcn.h */

#include "gate/runner/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/runner/function.h"
#include "kernels/simt/lent.h"

#define TO_DEVICE   1 /* cudaMemcpyHostToDevice */
#define FROM_DEVICE 2

#define OUT_OF_MEMORY 2 /* cudaErrorMemoryAllocation */

#define NON_BLOCKING 1 /* cudaStreamNonBlocking: it waits for no other stream */

#define ILLEGAL_ADDRESS 700 /* cudaErrorIllegalAddress */

/* Around an array on a GPU, unless nothing is there. */
#define BESIDE ((size_t)4096)

/* Of an array on a GPU, as cudaMalloc() promises. */
#define ALIGNMENT ((size_t)256)

/* What the default stream of a GPU has to do in each call: 0.2 ms of it at 3 TB/s, which is longer
 * than it takes to ask for the results. */
#define BUSY_BYTES ((size_t)64 << 20)
#define BUSY_TIMES 10

/* ---- Functions by name ---- */

/* Finds a function in the object, in what it is linked with, or in the CUDA runtime wherever it
 * is. An object that contains the runtime does not export the runtime's functions. */
static void *find(void *object, const char *name) {
    static const char *const runtimes[] = {"libcudart.so", "libcudart.so.13", "libcudart.so.12"};
    void *function = dlsym(object, name);
    for (size_t i = 0; function == NULL && i < sizeof runtimes / sizeof runtimes[0]; i++) {
        void *runtime = dlopen(runtimes[i], RTLD_NOW | RTLD_LOCAL);
        function = runtime != NULL ? dlsym(runtime, name) : NULL;
    }
    return function;
}

static int is_simulated(const struct run_device *d) {
    return d->begin != NULL;
}

/* Looks up what the executor has and a GPU has not, or the other way round. */
static void look_up_own(struct run_device *d, void *object) {
    if (is_simulated(d)) {
        RUN_SET_FUNCTION(d->declare, find(object, "simt_declare"));
        RUN_SET_FUNCTION(d->found, find(object, "simt_found"));
        RUN_SET_FUNCTION(d->is_idle, find(object, "simt_is_idle"));
        d->begin(0);
    } else {
        RUN_SET_FUNCTION(d->fill_on, find(object, "cudaMemsetAsync"));
        RUN_SET_FUNCTION(d->wait_for_all, find(object, "cudaDeviceSynchronize"));
        RUN_SET_FUNCTION(d->forget_error, find(object, "cudaGetLastError"));
    }
}

static void look_up(struct run_device *d, void *object) {
    memset(d, 0, sizeof *d);
    RUN_SET_FUNCTION(d->begin, dlsym(object, "simt_begin"));
    look_up_own(d, object);
    RUN_SET_FUNCTION(d->allocate, find(object, "cudaMalloc"));
    RUN_SET_FUNCTION(d->release, find(object, "cudaFree"));
    RUN_SET_FUNCTION(d->copy, find(object, "cudaMemcpy"));
    RUN_SET_FUNCTION(d->copy_on, find(object, "cudaMemcpyAsync"));
    RUN_SET_FUNCTION(d->fill, find(object, "cudaMemset"));
    RUN_SET_FUNCTION(d->new_stream, find(object, "cudaStreamCreateWithFlags"));
    RUN_SET_FUNCTION(d->wait, find(object, "cudaStreamSynchronize"));
    RUN_SET_FUNCTION(d->name_error, find(object, "cudaGetErrorString"));
}

static int is_complete(const struct run_device *d) {
    return d->allocate != NULL && d->release != NULL && d->copy != NULL && d->copy_on != NULL &&
           d->fill != NULL && d->new_stream != NULL && d->wait != NULL && d->name_error != NULL &&
           (is_simulated(d) ||
            (d->fill_on != NULL && d->wait_for_all != NULL && d->forget_error != NULL));
}

int run_device_open(struct run_device *d, void *object, char *text) {
    look_up(d, object);
    if (!is_complete(d)) {
        snprintf(text, RUN_TEXT,
                 "the kernel takes device memory, but there is no CUDA runtime: link the kernel "
                 "with -lcudart, or give its source");
        return -1;
    }
    int error = d->new_stream(&d->stream, NON_BLOCKING);
    if (error != 0) {
        snprintf(text, RUN_TEXT,
                 "the kernel takes device memory, but the CUDA runtime has no device: %.100s; "
                 "without a GPU give the kernel's source",
                 d->name_error(error));
        return -1;
    }
    if (!is_simulated(d) && d->allocate(&d->busy, BUSY_BYTES) != 0) {
        d->busy = NULL;
        (void)d->forget_error(); /* a kernel that asks for the last error gets its own */
    }
    d->has_fence = !is_simulated(d) && run_fence_open(&d->fence, object) == 0;
    return 0;
}

/* ---- Buffers ---- */

static char *address_of(const struct run_device *d, int buffer) {
    return d->array[buffer].memory + d->array[buffer].at;
}

static int allocate_fenced(struct run_device *d, struct run_device_array *array, size_t bytes,
                           int at_end) {
    size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (run_fence_new(&d->fence, room + BESIDE, &array->fenced) != 0) {
        return OUT_OF_MEMORY;
    }
    array->memory =
        (char *)(uintptr_t)array->fenced.address; /* NOLINT(performance-no-int-to-ptr) */
    array->bytes = array->fenced.bytes;
    array->at = at_end ? array->bytes - room : 0;
    return 0;
}

static int allocate_plain(struct run_device *d, struct run_device_array *array, size_t bytes) {
    size_t beside = is_simulated(d) ? 0 : BESIDE;
    void *memory = NULL;
    array->bytes = bytes + 2 * beside + (bytes == 0);
    array->at = beside;
    int error = d->allocate(&memory, array->bytes);
    array->memory = error == 0 ? memory : NULL;
    return error;
}

static int allocate(struct run_device *d, const struct run_layout *layout, int buffer,
                    const unsigned char *arena, unsigned char poison) {
    const struct run_place *place = &layout->place[buffer];
    struct run_device_array *array = &d->array[buffer];
    int error = d->has_fence ? allocate_fenced(d, array, place->bytes, layout->at_end)
                             : allocate_plain(d, array, place->bytes);
    error = error != 0 ? error : d->fill(array->memory, poison, array->bytes);
    if (error == 0 && place->bytes > 0) {
        error = d->copy(address_of(d, buffer), arena + place->begin, place->bytes, TO_DEVICE);
    }
    if (error == 0 && is_simulated(d)) {
        d->declare(array->memory, run_buffer_names[buffer], place->bytes, !run_read_only(buffer));
    }
    return error;
}

static void release(struct run_device *d) {
    for (int b = 0; b < RUN_BUFFERS; b++) {
        struct run_device_array *array = &d->array[b];
        if (d->has_fence) {
            run_fence_free(&d->fence, &array->fenced);
        } else if (array->memory != NULL) {
            (void)d->release(array->memory);
        }
        array->memory = NULL;
    }
}

static void point(const struct run_device *d, const struct run_layout *layout,
                  void *pointer[RUN_BUFFERS]) {
    for (int b = 0; b < RUN_BUFFERS; b++) {
        pointer[b] = layout->place[b].absent ? NULL : address_of(d, b);
    }
}

/* What a kernel puts on the default stream is then not done when call->stream is. */
static void keep_default_stream_busy(const struct run_device *d) {
    for (int i = 0; i < BUSY_TIMES && d->busy != NULL; i++) {
        (void)d->fill_on(d->busy, i, BUSY_BYTES, NULL);
    }
}

int run_device_enter(struct run_device *d, const struct run_layout *layout,
                     const unsigned char *arena, unsigned char poison, void *pointer[RUN_BUFFERS],
                     char *text) {
    if (is_simulated(d)) {
        d->begin(poison);
    }
    for (int b = 0; b < RUN_BUFFERS; b++) {
        int error = allocate(d, layout, b, arena, poison);
        error = error != 0 ? error : d->wait(NULL); /* what fills it is the default stream's */
        if (error != 0) {
            snprintf(text, RUN_TEXT, "the device has no room for %s: %.100s", run_buffer_names[b],
                     d->name_error(error));
            release(d);
            return -1;
        }
    }
    point(d, layout, pointer);
    keep_default_stream_busy(d);
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

static enum run_outcome error_of_gpu(const struct run_device *d, int error, char *text) {
    snprintf(text, RUN_TEXT, "CUDA reports an error in the work that it started: %.150s%s",
             d->name_error(error),
             error == ILLEGAL_ADDRESS ? ", outside of the arrays or of shared memory" : "");
    return error == ILLEGAL_ADDRESS ? RUN_OUT_OF_BOUNDS : RUN_UNDEFINED;
}

/* GATE-9 */
enum run_outcome run_device_wait(const struct run_device *d, char *text) {
    int error = d->wait(d->stream);
    enum run_outcome outcome = found_by_executor(d, text);
    if (error != 0 && outcome == RUN_DONE) {
        outcome = error_of_gpu(d, error, text);
    }
    if (outcome == RUN_DONE && is_simulated(d) && !d->is_idle()) {
        snprintf(text, RUN_TEXT,
                 "started work on another stream than call->stream: that work was unfinished when "
                 "call->stream was done");
        outcome = RUN_WROTE_LATE;
    }
    return outcome;
}

/* The first byte from `from` on that is no longer poison; `to` when all are. */
static size_t first_not(const char *bytes, size_t from, size_t to, unsigned char poison) {
    while (from < to && (unsigned char)bytes[from] == poison) {
        from++;
    }
    return from;
}

/* Checks an array and what is around it, as it is on a GPU now: the poison, and that it has what it
 * had before the call, or, a result, when the call's stream was done. `now`: from `before` bytes
 * before the array to `behind` bytes behind its end. */
static enum run_outcome compare(const struct run_place *place, int buffer, const char *now,
                                size_t before, size_t behind, const unsigned char *arena,
                                unsigned char poison, char *text) {
    size_t end = before + place->bytes, first = first_not(now, 0, before, poison);
    size_t last = first_not(now, end, end + behind, poison);
    if (first < before) {
        snprintf(text, RUN_TEXT, "wrote %zu bytes before the start of %s", before - first,
                 run_buffer_names[buffer]);
        return RUN_WROTE_BESIDE;
    }
    if (last < end + behind) {
        snprintf(text, RUN_TEXT, "wrote past the end of %s, at byte %zu of %zu",
                 run_buffer_names[buffer], last - before, place->bytes);
        return RUN_WROTE_BESIDE;
    }
    if (place->bytes == 0 || memcmp(now + before, arena + place->begin, place->bytes) == 0) {
        return RUN_DONE;
    }
    if (run_read_only(buffer)) {
        snprintf(text, RUN_TEXT, "wrote to %s, which is read-only", run_buffer_names[buffer]);
        return RUN_WROTE_INPUT;
    }
    snprintf(text, RUN_TEXT,
             "started work on another stream than call->stream: it wrote to %s after the work on "
             "call->stream was done",
             run_buffer_names[buffer]);
    return RUN_WROTE_LATE;
}

static enum run_outcome inspect(const struct run_device *d, const struct run_place *place,
                                int buffer, const unsigned char *arena, unsigned char poison,
                                char *text) {
    const struct run_device_array *array = &d->array[buffer];
    size_t rest = array->bytes - array->at - place->bytes;
    size_t before = array->at < BESIDE ? array->at : BESIDE, behind = rest < BESIDE ? rest : BESIDE;
    size_t bytes = before + place->bytes + behind;
    char *now = malloc(bytes);
    enum run_outcome outcome = RUN_UNDEFINED;
    if (now == NULL || d->copy(now, array->memory + array->at - before, bytes, FROM_DEVICE) != 0) {
        snprintf(text, RUN_TEXT, "%s cannot be read back", run_buffer_names[buffer]);
    } else {
        outcome = compare(place, buffer, now, before, behind, arena, poison, text);
    }
    free(now);
    return outcome;
}

/* Copies the results as they are when the work on the call's stream is done. */
static enum run_outcome fetch(const struct run_device *d, const struct run_layout *layout,
                              unsigned char *arena, char *text) {
    for (int b = 0; b < RUN_BUFFERS; b++) {
        const struct run_place *place = &layout->place[b];
        if (!run_read_only(b) && place->bytes > 0 &&
            (d->copy_on(arena + place->begin, address_of(d, b), place->bytes, FROM_DEVICE,
                        d->stream) != 0 ||
             d->wait(d->stream) != 0)) {
            snprintf(text, RUN_TEXT, "%s cannot be read back", run_buffer_names[b]);
            return RUN_UNDEFINED;
        }
    }
    return RUN_DONE;
}

/* On a GPU: once all work on all streams is done. */
static enum run_outcome inspect_all(const struct run_device *d, const struct run_layout *layout,
                                    const unsigned char *arena, unsigned char poison, char *text) {
    int error = d->wait_for_all();
    enum run_outcome outcome = RUN_DONE;
    if (error != 0) {
        outcome = error_of_gpu(d, error, text);
    }
    for (int b = 0; b < RUN_BUFFERS && outcome == RUN_DONE; b++) {
        outcome = inspect(d, &layout->place[b], b, arena, poison, text);
    }
    return outcome;
}

enum run_outcome run_device_leave(struct run_device *d, const struct run_layout *layout,
                                  unsigned char *arena, unsigned char poison, char *text) {
    enum run_outcome outcome = fetch(d, layout, arena, text);
    if (outcome == RUN_DONE && !is_simulated(d)) {
        outcome = inspect_all(d, layout, arena, poison, text);
    }
    release(d);
    return outcome;
}
