/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `chunkproof simulate --modules`. */
#ifndef CHUNKPROOF_CLI_MODULES_OPTIONS_H
#define CHUNKPROOF_CLI_MODULES_OPTIONS_H

#include "cli/modules/machine.h"

#define MODULES_MOST_PROMPTS 1000000
#define MODULES_MOST_BATCH   100000
#define MODULES_MOST_IMPORTS 4096
#define MODULES_MOST_NEW     1000000
#define MODULES_MOST_COUNT   4096
#define MODULES_MOST_TOKENS  100000
#define MODULES_MOST_GIB     1e6
#define MODULES_MOST_ZIPF    10.0

/* A schema that is made up (CACHE-6). */
struct modules_made {
    int count;       /* modules */
    int members;     /* of each union; 0 and 1: no unions */
    int least, most; /* tokens of a module */
    int system;      /* tokens of the schema's own text */
    int param;       /* tokens of the param that each module has; 0: none */
};

struct modules_options {
    const char *schema;  /* a file; NULL: one is made up */
    const char *machine; /* a preset's name, or a file; NULL: a100 */
    const char *json;
    const char *events;
    int help;
    int print_machine;
    int print_schema;
    int in_bytes; /* a token is a byte, not a word */
    struct modules_made made;
    int prompts;
    int batch;   /* prompts that are served together */
    int imports; /* modules that are drawn for a prompt */
    int new;     /* tokens of new text */
    double zipf;
    unsigned long long seed;
    double memory[2];     /* GiB for modules of the GPU and of the CPU (cache.h) */
    struct cp_dims model; /* with its parameters */
};

/* Returns 0, or -1 when something is wrong with it; a message has then been printed. */
int modules_options_parse(struct modules_options *options, int argc, char **argv);

void modules_options_help(void);

#endif
