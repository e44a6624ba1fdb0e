/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_PROMPT_OPTIONS_H
#define CHUNKPROOF_CLI_PROMPT_OPTIONS_H

#include <stdio.h>

struct prompt_options {
    int tokens;   /* --tokens: 0 words, 1 bytes; -1: the option is not there */
    int template; /* of pml_templates[] */
    int json, svg, help;
    const char *model; /* a weights file; NULL: none */
    int answer;        /* --answer: tokens of each answer, with a model */
    int is_fast, threads;
    int is_compared;    /* --compare */
    int is_each;        /* --each */
    int is_scored;      /* --score */
    const char *logits; /* --logits: a file; NULL: none */
    const char *schema;
    int n_prompts;
    char **prompt;
};

/* 0, or -1 after a message. */
int prompt_read_options(struct prompt_options *options, int argc, char **argv);

void prompt_help(FILE *out);

#endif
