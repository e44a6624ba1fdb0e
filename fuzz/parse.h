/* SPDX-License-Identifier: Apache-2.0 */
/* For fuzzing a parser of the command: the input as a file, and the parser's messages caught. A
 * refusal must say why, in whole lines without bytes that steer a terminal. */
#ifndef CHUNKPROOF_FUZZ_PARSE_H
#define CHUNKPROOF_FUZZ_PARSE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A file in memory that can be opened by its name. */
struct parse_file {
    int fd;
    char path[32];
};

void parse_file_new(struct parse_file *file, const void *bytes, size_t size);
void parse_file_free(struct parse_file *file);

/* While this is open, it keeps what is written to stderr. */
struct parse_said {
    FILE *before;
    char *text;
    size_t size;
};

void parse_listen(struct parse_said *said);

/* Ends it; with `refused`, checks the messages. */
void parse_heard(struct parse_said *said, int refused);

#endif
