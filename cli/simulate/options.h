/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `chunkproof simulate`. */
#ifndef CHUNKPROOF_CLI_SIMULATE_OPTIONS_H
#define CHUNKPROOF_CLI_SIMULATE_OPTIONS_H

#include "cli/simulate/simulate.h"

#define SIMULATE_RATES         100
#define SIMULATE_MOST_REQUESTS 10000000
#define SIMULATE_MOST_TOKENS   1000000
#define SIMULATE_MOST_GIB      1e6

struct simulate_options {
    const char *file; /* NULL: Poisson arrivals; "-": standard input */
    const char *cost; /* NULL: the example */
    const char *json;
    const char *csv;
    int help;
    int print_cost;
    int table4; /* the loads of ACL Table 4 */
    int block;  /* of the file */
    double speed;
    double rate[SIMULATE_RATES]; /* Poisson arrivals: one run each */
    int n_rates;
    struct simulate_poisson poisson;
    double memory;                     /* GiB for K and V; 0: no limit */
    struct simulate_settings settings; /* but for sharing and cost */
};

/* Returns 0, or -1 when something is wrong with it; a message has then been printed. */
int simulate_options_parse(struct simulate_options *options, int argc, char **argv);

void simulate_options_help(void);

#endif
