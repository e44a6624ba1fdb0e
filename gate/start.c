/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/start.h"

#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define SECONDS           10.0              /* of a call, */
#define SIMULATED_SECONDS 100.0             /* and of one on the executor of CUDA kernels */
#define MOST_HEAP         ((size_t)1 << 30) /* of what a kernel allocates */
#define MOST_KEPT         (128 << 20)       /* bytes that are free */

static struct run_limits limits_of(const struct gate_options *o, const struct gate_object *object) {
    double seconds = o->seconds > 0.0 ? o->seconds : SECONDS;
    double simulated = o->seconds > 0.0 ? o->seconds : SIMULATED_SECONDS;
    const struct file_stamp *stamp = object->in_place ? &object->stamp : NULL;
    return (struct run_limits){seconds, simulated, (size_t)o->memory, MOST_HEAP, stamp, o->sandbox};
}

/* A compiled kernel is called by the name of its source. */
static void say_of_file(const struct gate_options *o, const char *file, const char *error) {
    const char *slash = strrchr(o->kernel, '/'), *name = slash != NULL ? slash + 1 : o->kernel;
    const char *at = strcmp(file, o->kernel) != 0 ? strstr(error, file) : NULL;
    if (at != NULL) {
        fprintf(stderr, "chunkproof %s: %.*s%s%s\n", o->command, (int)(at - error), error,
                o->kernel, at + strlen(file));
    } else if (strstr(error, name) != NULL) {
        fprintf(stderr, "chunkproof %s: %s\n", o->command, error);
    } else {
        fprintf(stderr, "chunkproof %s: %s: %s\n", o->command, o->kernel, error);
    }
}

struct runner *gate_start_object(const struct gate_options *o, const struct gate_object *object) {
    struct run_limits limits = limits_of(o, object);
    struct runner *runner = NULL;
    char error[RUN_TEXT];
    if (runner_new(&runner, "/proc/self/exe", object->file, &limits, error) != 0) {
        say_of_file(o, object->file, error);
    }
    return runner;
}

/* Cases take and give back large arrays: the memory stays with this process, so that the system
 * need not clear it anew for each of them. Larger arrays go back at once. */
static void keep_memory(void) {
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, MOST_KEPT / 4);
    (void)mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
#endif
}

int gate_start(const struct gate_options *o, struct gate_object *object, struct runner **runner) {
    if (gate_object_new(object, o->kernel, o->place, o->compile, o->command) != 0) {
        return -1;
    }
    keep_memory();
    *runner = gate_start_object(o, object);
    if (*runner == NULL) {
        gate_object_free(object);
    }
    return *runner != NULL ? 0 : -1;
}
