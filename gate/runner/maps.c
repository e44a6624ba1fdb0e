/* SPDX-License-Identifier: Apache-2.0 */
/* The files that the kernel's process runs, from what the system says of its memory. */
#define _POSIX_C_SOURCE 200809L /* getline, readlink, strdup */

#include "gate/runner/maps.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A hash of the bytes of an open file, and of how many there are. 0, or -1. */
static int digest_of(FILE *file, unsigned long long *digest) {
    unsigned char bytes[1 << 14];
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    size_t n, all = 0;
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0) {
        memset(bytes + n, 0, sizeof bytes - n);
        for (size_t i = 0; i < n; i += sizeof h) {
            uint64_t word;
            memcpy(&word, bytes + i, sizeof word);
            h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
            h ^= h >> 32;
        }
        all += n;
    }
    *digest = (h ^ all) * UINT64_C(0x100000001B3);
    return ferror(file) ? -1 : 0;
}

/* The same of a name. One that was replaced since it was loaded has another name here, with
 * "(deleted)" at its end. */
static int digest_named(const char *name, unsigned long long *digest, char error[RUN_TEXT]) {
    FILE *file = fopen(name, "rb");
    int failed = file == NULL || digest_of(file, digest) != 0;
    if (failed) {
        (void)snprintf(error, RUN_TEXT, "%.400s is loaded with the kernel, and cannot be read: %s",
                       name, strerror(errno));
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return failed ? -1 : 0;
}

/* The name of the file in a line of /proc/PID/maps ("from-to access offset device inode   /name"),
 * or NULL: the line is of other memory. */
static char *name_in(char *line) {
    char *name = strchr(line, '/');
    if (name == NULL || strncmp(name, "/memfd:", 7) == 0 || strncmp(name, "/dev/", 5) == 0 ||
        strncmp(name, "/SYSV", 5) == 0) {
        return NULL;
    }
    name[strcspn(name, "\n")] = '\0';
    return name;
}

/* Adds a file. Libraries lie in any order, so their hashes are added up. */
static int add(const char *name, const char *program, const char *kernel,
               struct run_digests *digests, char error[RUN_TEXT]) {
    unsigned long long digest = 0;
    if (digest_named(name, &digest, error) != 0) {
        return -1;
    }
    if (strcmp(name, kernel) == 0) {
        digests->kernel = digest;
    } else if (strcmp(name, program) == 0) {
        digests->program = digest;
    } else {
        digests->libraries += digest;
    }
    return 0;
}

/* All files of the open maps. */
static int add_all(FILE *maps, const char *program, const char *kernel, struct run_digests *digests,
                   char error[RUN_TEXT]) {
    char *line = NULL, *last = NULL;
    size_t room = 0;
    int result = 0;
    while (result == 0 && getline(&line, &room, maps) > 0) {
        const char *name = name_in(line);
        if (name != NULL && (last == NULL || strcmp(last, name) != 0)) { /* its first part */
            result = add(name, program, kernel, digests, error);
            free(last);
            last = strdup(name);
        }
    }
    free(line);
    free(last);
    return result;
}

int run_maps_digest(pid_t process, const char *kernel, struct run_digests *digests,
                    char error[RUN_TEXT]) {
    char name[64], program[4096] = "";
    memset(digests, 0, sizeof *digests);
    (void)snprintf(name, sizeof name, "/proc/%d/exe", (int)process);
    ssize_t length = readlink(name, program, sizeof program - 1);
    (void)snprintf(name, sizeof name, "/proc/%d/maps", (int)process);
    FILE *maps = length > 0 ? fopen(name, "r") : NULL;
    if (maps == NULL) {
        (void)snprintf(error, RUN_TEXT, "the system does not say which files are loaded: %s",
                       strerror(errno));
        return -1;
    }
    int result = add_all(maps, program, kernel, digests, error);
    (void)fclose(maps);
    if (result == 0 && (digests->kernel == 0 || digests->program == 0)) {
        (void)snprintf(error, RUN_TEXT, "the system does not say which files are loaded");
        result = -1;
    }
    return result;
}
