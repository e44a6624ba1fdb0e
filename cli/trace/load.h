/* SPDX-License-Identifier: Apache-2.0 */
/* A trace from a file, for the commands that take one. */
#ifndef CHUNKPROOF_CLI_TRACE_LOAD_H
#define CHUNKPROOF_CLI_TRACE_LOAD_H

#include "cli/trace/data.h"

/* What messages and reports call a file: its name, or "<stdin>" for "-". */
const char *trace_source(const char *file);

/* Adds all requests of a file ("-": standard input) to a trace that was just made by trace_init().
 * Returns 0, or -1 after a message: FILE:LINE:COLUMN: what is wrong there. */
int trace_load(struct trace *trace, const char *file);

#endif
