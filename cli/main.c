/* SPDX-License-Identifier: Apache-2.0 */
/* The command `chunkproof`: finds the sub-command and hands over. */
#include <stdio.h>
#include <string.h>

#include "chunkproof/version.h"
#include "cli/base/command.h"
#include "cli/base/output.h"
#include "gate/runner/runner.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};

static const struct command commands[] = {
    {"gate", cp_command_gate, "decide whether a kernel of yours computes attention"},
    {"replay", cp_command_replay, "run a case that `gate --save` kept"},
    {"explain", cp_command_explain, "run such a case and say which mistake makes it wrong"},
    {"trace", cp_command_trace, "replay a request trace through the prefix tree, with checks"},
    {"simulate", cp_command_simulate,
     "a server's latency and K/V memory, with and without sharing"},
    {"bench", cp_command_bench, "measure the fast attention and tree against the machine's limits"},
    {"show", cp_command_show, "draw a small forest, its plan and the two phases, step by step"},
    {"tables", cp_command_tables, "recompute the papers' analytical tables"},
    {"prompt", cp_command_prompt, "positions, mask and cached tokens of a prompt made of modules"},
    {"bound", cp_command_bound, "how far from attention a right kernel may be, and why"},
    {"model", cp_command_model, "run a real language model on the reference decoder"},
};

static void print_help(FILE *out) {
    fputs("usage: chunkproof COMMAND [OPTION]... [ARGUMENT]...\n"
          "       chunkproof help [COMMAND] | --help | --version\n"
          "\n"
          "A formally specified reference of prefix-aware attention.\n"
          "\n"
          "commands:\n",
          out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n"
          "`chunkproof COMMAND --help` describes a command.\n"
          "\n"
          "exit status:\n"
          "  0    right: everything was done, and no check found anything\n"
          "  1    a finding: a check found something wrong\n"
          "  2    bad use, bad input, no memory, or output that cannot be written\n"
          "  130  interrupted with Ctrl-C, after printing what was found so far\n",
          out);
}

static const struct command *command_of(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

/* The exit status after output: 2 when it could not be written. */
static int written(void) {
    return output_end(stdout, NULL) == 0 ? EXIT_RIGHT : EXIT_BAD_USE;
}

static int unknown(const char *name) {
    fprintf(stderr, "chunkproof: unknown %s '%s'; `chunkproof --help` lists the commands\n",
            name[0] == '-' ? "option" : "command", name);
    return EXIT_BAD_USE;
}

/* `chunkproof help COMMAND` is `chunkproof COMMAND --help`. */
static int help(const char *name) {
    char *arguments[] = {(char *)name, "--help", NULL};
    const struct command *command;
    if (name == NULL) {
        print_help(stdout);
        return written();
    }
    command = command_of(name);
    return command == NULL ? unknown(name) : command->run(2, arguments);
}

int main(int argc, char **argv) {
    const struct command *command;
    if (argc < 2) {
        print_help(stderr);
        return EXIT_BAD_USE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return help(NULL);
    }
    if (strcmp(argv[1], "help") == 0) {
        return help(argv[2]);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("chunkproof %s\n", cp_version());
        return written();
    }
    command = command_of(argv[1]);
    if (command != NULL) {
        return command->run(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "--run-kernel") == 0) {
        return runner_child(argc - 1, argv + 1); /* `chunkproof gate` starts itself so */
    }
    return unknown(argv[1]);
}
