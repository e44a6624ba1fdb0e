/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* read */

#include "gate/runner/output.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/clean.h"

#define MOST_PRINTED ((size_t)64 << 10) /* bytes, of all processes */
#define PIECES       64                 /* that are taken at once from who prints without end */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t printed; /* more than the most: no more is printed, and that was said */

static void print(const char *line) {
    char *clean = text_clean(line);
    size_t length = strlen(clean) + 1;
    pthread_mutex_lock(&lock);
    if (printed + length <= MOST_PRINTED) {
        fprintf(stderr, "kernel: %s\n", clean);
        printed += length;
    } else if (printed <= MOST_PRINTED) {
        fputs("kernel: ... (more of what it prints is left out)\n", stderr);
        printed = MOST_PRINTED + 1;
    }
    pthread_mutex_unlock(&lock);
    free(clean);
}

static void end_line(struct run_output *o) {
    o->line[o->n] = '\0';
    print(o->line);
    o->n = 0;
}

static void add(struct run_output *o, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            o->line[o->n++] = bytes[i] != '\0' ? bytes[i] : '?';
        }
        if (bytes[i] == '\n' || o->n + 1 == sizeof o->line) {
            end_line(o);
        }
    }
}

void run_output_take(struct run_output *o) {
    char bytes[4096];
    ssize_t got = 1;
    for (int i = 0; i < PIECES && got > 0 && o->pipe >= 0; i++) {
        got = read(o->pipe, bytes, sizeof bytes);
        add(o, bytes, got > 0 ? (size_t)got : 0);
    }
}

void run_output_end(struct run_output *o) {
    run_output_take(o);
    if (o->n > 0) {
        end_line(o);
    }
    if (o->pipe >= 0) {
        (void)close(o->pipe);
        o->pipe = -1;
    }
}
