/* SPDX-License-Identifier: Apache-2.0 */
/* How long an iteration takes (spec/simulate.md). */
#ifndef CHUNKPROOF_CLI_SIMULATE_COST_H
#define CHUNKPROOF_CLI_SIMULATE_COST_H

#include <stdio.h>

#include "cli/tables/model.h"

struct simulate_cost {
    double fixed_us;         /* of each iteration */
    double sequence_us;      /* of each sequence that gets a token */
    double prefill_token_us; /* of each prompt token that is computed */
    double bytes_per_second; /* at which K and V are read; 0: for nothing */
    double flops_per_second; /* of attention; 0: for nothing */
};

/* What an iteration does. */
struct simulate_work {
    int decoding;             /* sequences that get a token */
    long long prefill_tokens; /* prompt tokens that are computed */
    long long stored_tokens;  /* distinct tokens with K and V, each read once */
    double pairs;             /* of a query row and a key that it sees */
};

/* Llama2-7B on an A100, from data sheets: an example, not a measurement. */
struct simulate_cost simulate_cost_example(void);

/* Reads spec/simulate-cost.schema.json from a file. Returns 0, or -1 after a message. */
int simulate_cost_load(struct simulate_cost *cost, const char *file);

/* Prints it as such a file. */
void simulate_cost_print(const struct simulate_cost *cost, FILE *out);

/* Nanoseconds, at least 1 and at most SIMULATE_END. */
#define SIMULATE_END 1000000000000000000LL
long long simulate_duration(const struct simulate_cost *cost, const struct cp_dims *model,
                            const struct simulate_work *work);

#endif
