/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/random.h"
#include "cli/simulate/cost.h"
#include "cli/trace/load.h"

int simulate_load_file(struct simulate_load *load, const char *file, int block, double speed) {
    trace_init(&load->trace, block);
    load->tick = 1e6 / speed; /* a trace counts ms */
    return trace_load(&load->trace, file);
}

/* The numbers of a request's chunks: those of the common prefix, then new ones. */
static int number_chunks(struct trace *trace, int n_shared, int n_blocks, int *block) {
    for (int k = 0; k < n_blocks; k++) {
        block[k] = k < n_shared && k < trace->n_ids ? k : trace_new_id(trace);
        if (block[k] < 0) {
            return -1;
        }
    }
    return 0;
}

static int add_requests(struct trace *trace, const struct simulate_poisson *poisson, int *block) {
    int n_blocks = poisson->prompt / trace->block_size + (poisson->prompt % trace->block_size > 0);
    struct prng random = {poisson->seed};
    long long gap = llround(1e6 / poisson->rate);
    long long now = 0; /* microseconds */
    for (int r = 0; r < poisson->requests; r++) {
        now += prng_exponential(&random, gap);
        if (number_chunks(trace, poisson->shared / trace->block_size, n_blocks, block) != 0) {
            return TRACE_TOO_MANY_OUTPUTS;
        }
        int result = trace_add(trace, now, poisson->prompt, poisson->completion, block);
        if (result != TRACE_OK) {
            return result;
        }
    }
    return TRACE_OK;
}

int simulate_load_poisson(struct simulate_load *load, const struct simulate_poisson *poisson,
                          int chunk) {
    int *block = malloc(((size_t)poisson->prompt / (size_t)chunk + 1) * sizeof *block);
    trace_init(&load->trace, chunk);
    load->tick = 1e3;
    int result = block == NULL ? TRACE_NO_MEMORY : add_requests(&load->trace, poisson, block);
    free(block);
    if (result == TRACE_NO_MEMORY) {
        fputs("chunkproof simulate: not enough memory for so many requests\n", stderr);
    } else if (result != TRACE_OK) {
        fputs("chunkproof simulate: these requests have more tokens than an int can number; ask "
              "for fewer or shorter requests\n",
              stderr);
    }
    return result == TRACE_OK ? 0 : -1;
}

void simulate_load_free(struct simulate_load *load) {
    trace_free(&load->trace);
}

long long simulate_arrival(const struct simulate_load *load, int r) {
    double ns = (double)load->trace.request[r].arrival * load->tick;
    return ns < (double)SIMULATE_END ? llround(ns) : SIMULATE_END;
}
