/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a trace in the Mooncake format: one JSON object per line and request, with
 *   timestamp      arrival, ms, never going back
 *   input_length   prompt tokens
 *   output_length  completion tokens
 *   hash_ids       one id for each block of the prompt, the partial last one included
 * Other fields are ignored. */
#ifndef CHUNKPROOF_CLI_TRACE_PARSE_H
#define CHUNKPROOF_CLI_TRACE_PARSE_H

#include <stdio.h>

#include "cli/trace/data.h"

struct trace_error {
    long line;  /* from 1, or 0 when the fault is no line's */
    int column; /* in characters, from 1 */
    char text[256];
};

/* Adds all requests of a file to a trace that was just made by trace_init(). Returns 0, or -1 with
 * *error written; an empty file is an error too. */
int trace_parse(struct trace *trace, FILE *file, struct trace_error *error);

#endif
