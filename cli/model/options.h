/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_MODEL_OPTIONS_H
#define CHUNKPROOF_CLI_MODEL_OPTIONS_H

#include <stdio.h>

#define MODEL_MOST_TOKENS  (1 << 20) /* of a window, of a completion */
#define MODEL_MOST_THREADS 1024

struct model_options {
    const char *file;        /* the weights file */
    const char *text_file;   /* NULL: no text */
    const char *logits_file; /* NULL: logits are not written */
    int tokens;              /* 1: print the text's tokens */
    int special;             /* 1: special tokens are looked for in the text */
    int generate;            /* tokens to generate; 0: measure perplexity */
    int window;              /* tokens that are scored together */
    int limit;               /* the text's first tokens, so many at most; 0: all */
    int threads;
    int is_fast; /* 1: the fast decoder */
    int help;
};

/* 0, or -1 after a message. */
int model_options_parse(struct model_options *options, int argc, char **argv);
void model_options_help(FILE *file);

#endif
