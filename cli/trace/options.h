/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `chunkproof trace`. */
#ifndef CHUNKPROOF_CLI_TRACE_OPTIONS_H
#define CHUNKPROOF_CLI_TRACE_OPTIONS_H

#include "cli/trace/generate.h"
#include "cli/trace/replay.h"

struct trace_options {
    const char *file; /* NULL: a generated trace; "-": standard input */
    int block_size;
    int help;
    int generate; /* print the trace, replay nothing */
    int json;
    int progress; /* even when standard error is no terminal */
    struct trace_generator generator;
    struct trace_settings settings; /* capacity 0: as many chunks as the trace needs */
};

/* Returns 0, or -1 when something is wrong with it; a message has then been printed. */
int trace_options_parse(struct trace_options *options, int argc, char **argv);

void trace_options_help(void);

/* "none", "sampled" or "every". */
const char *trace_check_name(int check);

#endif
