/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of opt/ on a trace: each prompt joins, nobody leaves. */
#ifndef CHUNKPROOF_CLI_BENCH_TRAFFIC_H
#define CHUNKPROOF_CLI_BENCH_TRAFFIC_H

#include "cli/bench/attention.h"

/* Seconds of one join: half and 99 % of them take no longer, and the longest. */
struct traffic_spread {
    double median, p99, most;
};

struct traffic {
    const char *source; /* of the trace; NULL: not measured */
    int requests, joined, chunks;
    long long tokens, shared; /* of the prompts that joined; of these, found in the tree */
    struct traffic_spread join;
    double joins; /* seconds of all of them */
    double serve; /* seconds of the whole trace with completions and departures, without checks: */
    long long appended; /* so many tokens */
    double
        replay; /* seconds: what `chunkproof trace --tree opt --retain` does but for the parsing, with its checks */
};

/* `file` NULL: a generated trace. Returns EXIT_RIGHT; EXIT_FINDING or EXIT_BAD_USE after saying
 * why. */
int traffic_measure(const struct bench_bench *bench, const char *file, int smoke,
                    struct traffic *traffic);

#endif
