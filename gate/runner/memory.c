/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory is left. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/runner/runner.h"

/* The number behind a word at the beginning of a line; -1: there is none. */
static double number_in(const char *name, const char *word) {
    char line[256];
    double number = -1.0;
    FILE *file = fopen(name, "r");
    size_t length = strlen(word);
    while (file != NULL && number < 0.0 && fgets(line, sizeof line, file) != NULL) {
        char *end = line + length;
        if (strncmp(line, word, length) == 0) {
            double value = strtod(line + length, &end);
            number = end != line + length ? value : number;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return number;
}

/* What a control group leaves: its limit, less what it uses and could not give back. Infinite when
 * it has no limit. */
static double left_in(const char *group, const char *limit, const char *used, const char *idle) {
    char name[4200];
    (void)snprintf(name, sizeof name, "%s/%s", group, limit);
    double most = number_in(name, "");
    (void)snprintf(name, sizeof name, "%s/%s", group, used);
    double now = number_in(name, "");
    (void)snprintf(name, sizeof name, "%s/memory.stat", group);
    double files = number_in(name, idle);
    return most < 0.0 || now < 0.0 ? (double)INFINITY
                                   : fmax(0.0, most - now + (files > 0.0 ? files : 0.0));
}

/* Of the group with that path below `root`, and of those above it. */
static double left_in_all(const char *root, char *path, const char *limit, const char *used,
                          const char *idle) {
    double left = (double)INFINITY;
    char group[4100];
    for (;;) {
        (void)snprintf(group, sizeof group, "%s%s", root, path);
        left = fmin(left, left_in(group, limit, used, idle));
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            return left;
        }
        *slash = '\0';
    }
}

static double left_in_groups(void) {
    char line[4096];
    double left = (double)INFINITY;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (path != NULL && strncmp(line, "0::", 3) == 0) {
            left = fmin(left, left_in_all("/sys/fs/cgroup", path, "memory.max", "memory.current",
                                          "inactive_file "));
        } else if (path != NULL && strstr(line, ":memory:") != NULL) {
            left = fmin(left, left_in_all("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes",
                                          "memory.usage_in_bytes", "total_inactive_file "));
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return left;
}

double run_memory_available(void) {
    double kilobytes = number_in("/proc/meminfo", "MemAvailable:");
    double swap = number_in("/proc/meminfo", "SwapFree:");
    double system =
        kilobytes < 0.0 ? (double)INFINITY : 1024.0 * (kilobytes + (swap > 0.0 ? swap : 0.0));
    return fmin(system, left_in_groups());
}
