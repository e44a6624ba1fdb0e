/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* sysconf */

#include "cli/bench/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/base/printable.h"

/* The text after "NAME" and a colon in a file of such lines; `to` is unchanged if there is none. */
static void find(const char *file, const char *name, char *to) {
    char line[512];
    FILE *in = fopen(file, "r");
    int found = 0;
    while (in != NULL && !found && fgets(line, sizeof line, in) != NULL) {
        char *colon = strchr(line, ':');
        found = strncmp(line, name, strlen(name)) == 0 && colon != NULL;
        if (found) {
            char *text = colon + 1 + strspn(colon + 1, " \t");
            text[strcspn(text, "\n")] = '\0';
            (void)snprintf(to, MACHINE_TEXT, "%s", printable(text));
        }
    }
    if (in != NULL) {
        (void)fclose(in);
    }
}

static double kilobytes_of(const char *name) {
    char text[MACHINE_TEXT] = "0";
    find("/proc/meminfo", name, text);
    return 1024.0 * strtod(text, NULL);
}

static double size_of(int which) {
    long bytes = sysconf(which);
    return bytes > 0 ? (double)bytes : 0.0;
}

void bench_machine_read(struct bench_machine *machine) {
    struct utsname name;
    memset(machine, 0, sizeof *machine);
    find("/proc/cpuinfo", "model name", machine->processor);
    if (uname(&name) == 0) {
        (void)snprintf(machine->system, sizeof machine->system, "%.30s %.60s %.30s", name.sysname,
                       name.release, name.machine);
    }
#if defined(__clang__)
    (void)snprintf(machine->compiler, sizeof machine->compiler, "%.120s", __VERSION__);
#else
    (void)snprintf(machine->compiler, sizeof machine->compiler, "gcc %.120s", __VERSION__);
#endif
    machine->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    machine->cache[0] = size_of(_SC_LEVEL1_DCACHE_SIZE);
    machine->cache[1] = size_of(_SC_LEVEL2_CACHE_SIZE);
    machine->cache[2] = size_of(_SC_LEVEL3_CACHE_SIZE);
    machine->memory = kilobytes_of("MemTotal");
    machine->free_memory = kilobytes_of("MemAvailable");
}
