/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof gate`: starts the kernel, checks it, reports. */
#define _POSIX_C_SOURCE 200809L /* sigaction */

#include "gate/command.h"

#include <signal.h>
#include <string.h>

#include "gate/gate/gate.h"

#define MOST_BYTES ((size_t)2 << 30) /* of the buffers of a call, */
#define MOST_HEAP  ((size_t)1 << 30) /* and of what a kernel allocates */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

/* The first Ctrl-C ends the checking and prints what was found, a second one ends the process. */
static void catch_interrupt(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    interrupted = 0;
    sigaction(SIGINT, &action, NULL);
}

static int status_of(const struct gate_result *r) {
    if (r->verdicts[GATE_RIGHT] < r->cases) {
        return EXIT_FINDING;
    }
    if (r->interrupted) {
        return EXIT_INTERRUPTED;
    }
    return r->cases > 0 ? EXIT_RIGHT : EXIT_BAD_USE;
}

static int check(const struct gate_options *o) {
    struct run_limits limits = {o->seconds, MOST_BYTES, MOST_HEAP};
    struct gate_result result;
    struct runner *runner;
    char error[256];
    if (runner_new(&runner, "/proc/self/exe", o->kernel, &limits, error) != 0) {
        fprintf(stderr, "chunkproof gate: %s: %s\n", o->kernel, error);
        return EXIT_BAD_USE;
    }
    catch_interrupt();
    int status = EXIT_BAD_USE;
    if (gate_check(o, runner, &result, &interrupted) == 0) {
        status = status_of(&result);
        gate_print_text(stdout, o, runner_kernel(runner), &result);
        if (o->json != NULL && gate_print_json(o->json, o, runner_kernel(runner), &result) != 0) {
            status = EXIT_BAD_USE;
        }
    }
    runner_free(runner);
    return status;
}

int cp_command_gate(int argc, char **argv) {
    struct gate_options options;
    int status = EXIT_RIGHT;
    if (gate_options_parse(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.help) {
        gate_options_help(stdout);
    } else {
        status = check(&options);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("chunkproof gate: the output could not be written\n", stderr);
        return EXIT_BAD_USE;
    }
    return status;
}
