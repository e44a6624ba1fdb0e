/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `chunkproof bench`. */
#ifndef CHUNKPROOF_CLI_BENCH_OPTIONS_H
#define CHUNKPROOF_CLI_BENCH_OPTIONS_H

#include "cli/bench/peer.h"

/* The parts that can be measured. */
enum bench_part {
    BENCH_TABLE3,
    BENCH_FIGURE3,
    BENCH_FIGURE4,
    BENCH_LEVELS,
    BENCH_GQA,
    BENCH_BFLOAT16,
    BENCH_WINDOWS,
    BENCH_CACHES,
    BENCH_TREES,
    BENCH_TRACE,
    BENCH_GATE,
    BENCH_PARTS
};

extern const char *const bench_part_names[BENCH_PARTS];

#define BENCH_ATTENTION 8 /* the first so many are of attention */

#define BENCH_MOST_HEADS   1024
#define BENCH_MOST_SECONDS 3600.0
#define BENCH_MOST_GIB     1e6

struct bench_options {
    int help, list, smoke, progress;
    unsigned parts; /* bit p: part p is requested */
    double seconds; /* of a cell */
    int threads;    /* 0: as many as there are processors */
    int version;    /* of opt/, CP_OPT_BEST .. */
    int heads;
    double memory;      /* GiB of a cell; 0: half of what is free */
    const char *kernel; /* for the gate's part; NULL: it is skipped */
    const char *trace;  /* NULL: a generated one */
    const char *peer[PEER_MOST];
    int n_peers;
    const char *csv, *json, *cost;
};

/* Returns 0, or -1 after a message. */
int bench_options_parse(struct bench_options *options, int argc, char **argv);

void bench_options_help(void);

#endif
