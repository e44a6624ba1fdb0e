/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel prints: the first lines go to standard error, quoted, and the rest nowhere. A line
 * looks like this: "kernel: it prints this". */
#ifndef CHUNKPROOF_GATE_RUNNER_OUTPUT_H
#define CHUNKPROOF_GATE_RUNNER_OUTPUT_H

#include <stddef.h>

struct run_output {
    int pipe; /* the end to read from, which does not block; -1: none */
    size_t n; /* bytes of a line that has not ended yet */
    char line[512];
};

/* Takes what has come. */
void run_output_take(struct run_output *output);

/* Takes the last of it, and closes the pipe. */
void run_output_end(struct run_output *output);

#endif
