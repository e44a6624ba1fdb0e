/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* mkstemp, fork */

#include "cli/bench/tiers.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/command.h"

#define SMOKE_CASES "5"

/* In the new process: this program once more, which says nothing of a right kernel. */
static void become(const char *kernel, const char *name, const char *seconds, int smoke,
                   const char *json) {
    const char *argv[16] = {"chunkproof", "gate",  "--kernel", kernel, "--tier", name,
                            "--time",     seconds, "--json",   json,   NULL};
    int nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0) {
        dup2(nothing, STDOUT_FILENO);
    }
    if (smoke) {
        argv[10] = "--cases";
        argv[11] = SMOKE_CASES;
    }
    execv("/proc/self/exe", (char **)argv);
    _exit(127);
}

/* Its exit status, or -1: no process, or it was ended by a signal. */
static int run(const char *kernel, const char *name, double seconds, int smoke, const char *json) {
    char limit[32];
    int status = 0;
    (void)snprintf(limit, sizeof limit, "%.3f", seconds);
    pid_t process = fork();
    if (process == 0) {
        become(kernel, name, limit, smoke, json);
    }
    if (process < 0) {
        return -1;
    }
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int tier_read(const char *file, long long all, struct tier *tier) {
    json_t *report = json_load_file(file, 0, NULL);
    const json_t *cases = json_object_get(report, "cases");
    const json_t *seconds = json_object_get(report, "seconds");
    int is_one = json_is_integer(cases) && json_is_number(seconds) &&
                 json_integer_value(cases) > 0 && json_number_value(seconds) > 0.0;
    if (is_one) {
        *tier = (struct tier){.measured = 1,
                              .cases = json_integer_value(cases),
                              .all = all,
                              .seconds = json_number_value(seconds)};
        tier->rate = (double)tier->cases / tier->seconds;
        tier->whole = tier->cases == all ? tier->seconds : (double)all / tier->rate;
    }
    json_decref(report);
    return is_one ? 0 : -1;
}

static int refuse(const char *kernel, int status) {
    if (status == EXIT_FINDING) {
        fprintf(stderr, "chunkproof bench: --kernel %s: `chunkproof gate` finds it wrong\n",
                kernel);
        return EXIT_FINDING;
    }
    fprintf(stderr, "chunkproof bench: --kernel %s: `chunkproof gate` gives no verdict\n", kernel);
    return EXIT_BAD_USE;
}

int tiers_measure(const char *kernel, double seconds, int smoke,
                  const volatile sig_atomic_t *interrupted, struct tier tier[GATE_TIERS]) {
    const char *directory = getenv("TMPDIR");
    memset(tier, 0, GATE_TIERS * sizeof *tier);
    for (int i = 0; i < (smoke ? 1 : GATE_TIERS) && !*interrupted; i++) {
        struct gate_options options = {.tier = (enum gate_tier)i};
        char file[256];
        (void)snprintf(file, sizeof file, "%s/chunkproof-XXXXXX",
                       directory != NULL ? directory : "/tmp");
        int made = mkstemp(file);
        if (made < 0) {
            fprintf(stderr, "chunkproof bench: %s cannot be made: %s\n", file, strerror(errno));
            return EXIT_BAD_USE;
        }
        close(made);
        int status = run(kernel, gate_tier_names[i], seconds, smoke, file);
        int failed = status == EXIT_RIGHT && tier_read(file, gate_cases(&options), &tier[i]) != 0;
        unlink(file);
        if (status == EXIT_INTERRUPTED) {
            return EXIT_RIGHT;
        }
        if (status != EXIT_RIGHT || failed) {
            return refuse(kernel, status);
        }
    }
    return EXIT_RIGHT;
}
