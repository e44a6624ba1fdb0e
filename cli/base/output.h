/* SPDX-License-Identifier: Apache-2.0 */
/* A file that gets its name once it is complete: whatever ends the program, the name has all of the
 * new file, or what it had before. What is no regular file is written to directly. */
#ifndef CHUNKPROOF_CLI_BASE_OUTPUT_H
#define CHUNKPROOF_CLI_BASE_OUTPUT_H

#include <stdio.h>

struct output {
    FILE *file;      /* to write to; NULL: not open */
    char name[4096]; /* of the complete file, symbolic links followed */
    char part[4104]; /* of the file until then; "": it is written to directly */
};

/* The name behind symbolic links, also to what does not exist yet. 0, or -1: errno says why not. */
int output_follow(const char *name, char *to, size_t size);

/* 0, or -1: errno says why the file cannot be written. */
int output_open(struct output *output, const char *name);

/* Removes what has the name until then. */
void output_remove_old(const struct output *output);

/* Ends the file and gives it its name. 0, or -1: not all could be written, and the name has what it
 * had before; errno says why, or is 0. */
int output_keep(struct output *output);

/* Ends the file without a trace. */
void output_drop(struct output *output);

/* Ends what a command prints to `file`, its standard output. 0, or -1 after saying that it cannot
 * be written, and why. `command`: the sub-command, or NULL. */
int output_end(FILE *file, const char *command);

#endif
