/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of opt/ on a trace: each prompt joins, nobody leaves. */
#ifndef CHUNKPROOF_CLI_BENCH_TRAFFIC_H
#define CHUNKPROOF_CLI_BENCH_TRAFFIC_H

#include "cli/bench/attention.h"

/* Seconds of one join: median, 99th percentile, maximum. */
struct traffic_spread {
    double median, p99, most;
};

struct traffic {
    const char *source; /* of the trace; NULL: not measured */
    int requests, joined, chunks;
    long long tokens, shared; /* of the prompts that joined; how many of these the tree had */
    struct traffic_spread join;
    double joins;       /* seconds of all joins */
    double serve;       /* seconds of the trace with completions and departures, without checks */
    long long appended; /* tokens of the completions */
    double replay;      /* seconds of `chunkproof trace --tree opt --retain`, without parsing */
};

/* `file` NULL: a generated trace. Returns EXIT_RIGHT; or EXIT_FINDING or EXIT_BAD_USE after a
 * message. */
int traffic_measure(const struct bench_bench *bench, const char *file, int smoke,
                    struct traffic *traffic);

#endif
