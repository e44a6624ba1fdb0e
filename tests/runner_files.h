/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the gate: the files that are built beside their programs. A program with a seeded
 * fault lies in build/faults/NAME. Needs readlink(). */
#ifndef CHUNKPROOF_TESTS_RUNNER_FILES_H
#define CHUNKPROOF_TESTS_RUNNER_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/runner/runner.h"

/* The program that a runner starts for a kernel: this test itself, so that what is wrong with the
 * kernel's process is wrong with what was linked here. main() begins with run_if_kernel(). */
static inline const char *own_program(char path[4200]) {
    ssize_t length = readlink("/proc/self/exe", path, 4096);
    path[length > 0 ? length : 0] = '\0';
    return path;
}

static inline void run_if_kernel(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--run-kernel") == 0) {
        exit(runner_child(argc - 1, argv + 1));
    }
}

/* build/tests/NAME, into a path of at least 4200 bytes. */
static inline const char *beside(char path[4200], const char *name) {
    ssize_t length = readlink("/proc/self/exe", path, 4096);
    path[length > 0 ? length : 0] = '\0';
    char *end = strrchr(path, '/');
    if (end == NULL) {
        abort();
    }
    snprintf(end + 1, 100, "gate");
    int is_there = access(path, F_OK) == 0;
    snprintf(end + 1, 100, "%s%s", is_there ? "" : "../../tests/", name);
    return path;
}

#endif
