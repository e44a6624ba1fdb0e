/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_SHOW_OPTIONS_H
#define CHUNKPROOF_CLI_SHOW_OPTIONS_H

#include <stdio.h>

enum show_format { SHOW_TEXT, SHOW_DOT, SHOW_SVG, SHOW_JSON };

struct show_options {
    int chunk_size; /* 0: not given */
    int capacity;   /* 0: not given */
    int width, has_width;
    enum show_format format;
    int steps;
    int ascii;
    int help;
    int source;
    int window; /* 0: none */
    int ahead, has_ahead;
    int kept;
    int rows; /* 0: not given */
    int sinks;
    int page_size;       /* 0: not given */
    const char *tree;    /* parents; or NULL */
    const char *mask;    /* a file, "-" for the standard input; or NULL */
    const char *script;  /* "-" for the standard input; or NULL */
    const char *example; /* or NULL */
    int n_prompts;       /* 0 when there is a script or an example */
    char **prompt;
};

/* 0, or -1 after a message. */
int show_read_options(struct show_options *options, int argc, char **argv);

/* 1: the options ask which keys rows see. */
int show_options_ask(const struct show_options *options);

void show_help(FILE *out);

#endif
