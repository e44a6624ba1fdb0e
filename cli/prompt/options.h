/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_PROMPT_OPTIONS_H
#define CHUNKPROOF_CLI_PROMPT_OPTIONS_H

#include <stdio.h>

struct prompt_options {
    int is_bytes; /* --tokens bytes */
    int template; /* of pml_templates[] */
    int json, svg, help;
    const char *schema;
    int n_prompts;
    char **prompt;
};

/* 0, or -1 after a message. */
int prompt_read_options(struct prompt_options *options, int argc, char **argv);

void prompt_help(FILE *out);

#endif
