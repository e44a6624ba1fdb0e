/* SPDX-License-Identifier: Apache-2.0 */
/* What a simulation is given: requests, and when they arrive. */
#ifndef CHUNKPROOF_CLI_SIMULATE_LOAD_H
#define CHUNKPROOF_CLI_SIMULATE_LOAD_H

#include "cli/trace/data.h"

/* Poisson arrivals of requests that are alike. */
struct simulate_poisson {
    double rate; /* requests per second, SIMULATE_LEAST_RATE .. SIMULATE_MOST_RATE */
    int requests;
    int prompt; /* n_p */
    int shared; /* n_s: leading tokens that all prompts have in common, 0 .. n_p */
    int completion;
    unsigned long long seed;
};

#define SIMULATE_LEAST_RATE 0.001
#define SIMULATE_MOST_RATE  1e5

struct simulate_load {
    struct trace trace;
    double tick; /* ns in a unit of the trace's arrivals */
};

/* Requests as in the file of a trace, that come `speed` times as fast as it says. Returns 0, or -1
 * after a message. */
int simulate_load_file(struct simulate_load *load, const char *file, int block, double speed);

/* The trace's blocks are chunks of that many tokens: of the shared tokens, the n_s div c chunks
 * that a tree shares have the same numbers. The same seed at another rate gives the same gaps in
 * proportion. Returns 0, or -1 after a message. */
int simulate_load_poisson(struct simulate_load *load, const struct simulate_poisson *poisson,
                          int chunk);

void simulate_load_free(struct simulate_load *load);

/* When request r arrives, in ns from the trace's 0; at most SIMULATE_END. */
long long simulate_arrival(const struct simulate_load *load, int r);

#endif
