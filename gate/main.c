/* SPDX-License-Identifier: Apache-2.0 */
/* The command `chunkproof`: finds the sub-command and hands over. */
#include <stdio.h>
#include <string.h>

#include "chunkproof/version.h"
#include "gate/command.h"
#include "gate/gate/runner.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};

static const struct command commands[] = {
    {"gate", cp_command_gate, "decide whether a kernel of yours computes attention"},
    {"replay", cp_command_replay, "run a case that the gate kept"},
    {"explain", cp_command_explain, "the same, and say which mistake a wrong result comes from"},
    {"trace", cp_command_trace, "replay a request trace through the prefix tree, checked"},
    {"simulate", cp_command_simulate,
     "a server's latency and K/V memory, with and without sharing"},
    {"bench", cp_command_bench, "measure the fast attention and tree, beside the machine's limits"},
    {"show", cp_command_show, "draw a small forest, its plan and the two phases, step by step"},
    {"tables", cp_command_tables, "recompute the papers' analytical tables"},
    {"bound", cp_command_bound, "how far a right kernel may be from attention, and why"},
};

static void print_help(FILE *out) {
    fputs("usage: chunkproof COMMAND [OPTION]... [ARGUMENT]...\n"
          "       chunkproof --help | --version\n"
          "\n"
          "A formally specified reference of prefix-aware attention.\n"
          "\n"
          "commands:\n",
          out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n"
          "`chunkproof COMMAND --help` describes one of them.\n"
          "\n"
          "exit status:\n"
          "  0    right: all that was asked for was done, and no check found anything\n"
          "  1    a finding: a check found something wrong\n"
          "  2    bad use or bad input (or no memory, or output that cannot be written)\n"
          "  130  interrupted with Ctrl-C, after printing what was found so far\n",
          out);
}

/* The exit status after output: 2 when it could not be written. */
static int written(void) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("chunkproof: the output cannot be written\n", stderr);
        return EXIT_BAD_USE;
    }
    return EXIT_RIGHT;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return EXIT_BAD_USE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return written();
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("chunkproof %s\n", cp_version());
        return written();
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    if (strcmp(argv[1], "--run-kernel") == 0) {
        return runner_child(argc - 1, argv + 1); /* `chunkproof gate` starts itself so */
    }
    fprintf(stderr, "chunkproof: unknown %s '%s'; `chunkproof --help` lists the commands\n",
            argv[1][0] == '-' ? "option" : "command", argv[1]);
    return EXIT_BAD_USE;
}
