/* SPDX-License-Identifier: Apache-2.0 */
/* A synthetic trace. Requests arrive as a Poisson process. A request either adds a question to one
 * of a few shared system prompts, or continues a recent conversation: its prompt, its answer, and a
 * new question. Lengths are exponentially distributed. The same settings give the same trace on
 * every machine. */
#ifndef CHUNKPROOF_CLI_TRACE_GENERATE_H
#define CHUNKPROOF_CLI_TRACE_GENERATE_H

#include <stdio.h>

#include "cli/trace/data.h"

struct trace_generator {
    unsigned long long seed;
    int requests;         /* at least 1 */
    long long gap;        /* mean time between arrivals, microseconds, at most 2^32 */
    int prompts;          /* shared system prompts, at least 1 */
    int prompt_tokens;    /* mean length of one, at least 0 */
    int question_tokens;  /* mean, at least 0 */
    int output_tokens;    /* mean, at least 0 */
    int continue_percent; /* of the requests go on with a recent one, 0 .. 100 */
};

/* Adds the requests to a trace that was just made by trace_init(). Lengths are cut where a path of
 * the tree ends. Returns TRACE_OK, TRACE_NO_MEMORY, TRACE_TOO_MANY_OUTPUTS or
 * TRACE_TOO_MANY_IDS. */
#define TRACE_TOO_MANY_IDS 3
int trace_generate(struct trace *trace, const struct trace_generator *generator);

/* Prints a trace as JSON lines. */
void trace_print(const struct trace *trace, FILE *out);

#endif
