/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a run. */
#ifndef CHUNKPROOF_CLI_SIMULATE_SUMMARY_H
#define CHUNKPROOF_CLI_SIMULATE_SUMMARY_H

#include "cli/simulate/simulate.h"

/* Of some numbers; all 0 when there are none. p50 and p99 are nearest ranks: the smallest number
 * that half of them, 99 % of them, do not exceed. */
struct simulate_spread {
    double mean;
    double p50;
    double p99;
};

struct simulate_summary {
    struct simulate_spread latency;     /* ms from arrival to last token, per completion token */
    struct simulate_spread first_token; /* ms from arrival to the first token */
    double tokens_per_second; /* completion tokens, from first arrival to last departure */
    double requests_per_second;
    double in_system;  /* requests that wait or run, on average over that time */
    double mean_batch; /* over the iterations */
    double busy;       /* the part of that time that iterations take */
    double peak_bytes; /* chunks with K and V */
    double reuse;      /* the part of the prompt tokens that was in the tree */
};

/* Returns 0, or -1 when there is no memory. */
int simulate_summarise(const struct trace *trace, const struct simulate_settings *settings,
                       const struct simulate_run *run, struct simulate_summary *summary);

/* Of n numbers, which are put in order. */
struct simulate_spread simulate_spread_of(double *number, int n);

#endif
