/* SPDX-License-Identifier: Apache-2.0 */
/* One load of attention, measured: opt/ beside what shares less, beside peers, beside the limits. */
#ifndef CHUNKPROOF_CLI_BENCH_ATTENTION_H
#define CHUNKPROOF_CLI_BENCH_ATTENTION_H

#include <signal.h>

#include "chunkproof/attention.h"
#include "chunkproof/opt.h"
#include "cli/bench/limits.h"
#include "cli/bench/load.h"
#include "cli/bench/peer.h"
#include "cli/bench/statistics.h"

/* Ours, all by the same loops (cp_opt_attend) over different plans. */
enum { BENCH_TREE, BENCH_PAGED, BENCH_PAGES, BENCH_OURS };

#define BENCH_MOST_SERIES (BENCH_OURS + PEER_MOST_SERIES)

/* One of them in a cell: seconds of each round. */
struct bench_series {
    char name[PEER_TEXT];
    char note[PEER_TEXT]; /* how a peer does it; or why it is not measured */
    int measured;
    double wall[BENCH_MOST_ROUNDS];
    double cpu[BENCH_MOST_ROUNDS]; /* of all its threads */
};

enum bench_end {
    BENCH_NOT_RUN, /* interrupted before it had a round */
    BENCH_MEASURED,
    BENCH_NO_ROOM, /* it takes more memory than it may */
    BENCH_WRONG    /* a result is outside of the certified tolerance: not timed */
};

struct bench_cell {
    struct bench_load load;
    enum bench_end end;
    char note[2 * PEER_TEXT]; /* what was wrong, or how much memory it takes */
    long long distinct;       /* tokens */
    double bytes, flops;      /* at least */
    int n_rounds, n_series;
    struct bench_series series[BENCH_MOST_SERIES];
    /* Of each round, medians of what was found before each series: bytes and operations per second, and per second
     * that a processor worked; and the least that processors worked for us meanwhile, 0 .. 1. */
    double read[BENCH_MOST_ROUNDS], multiply[BENCH_MOST_ROUNDS];
    double cpu_read[BENCH_MOST_ROUNDS], cpu_multiply[BENCH_MOST_ROUNDS];
    double share[BENCH_MOST_ROUNDS];
};

/* What all cells are measured with. */
struct bench_bench {
    struct cp_opt *opt;
    struct bench_limits *limits;
    struct peer *peer[PEER_MOST];
    int n_peers;
    double seconds;    /* that the rounds of a cell may take ... */
    int least_rounds;  /* ... but so many at least, and */
    int most_rounds;   /* so many at most */
    double memory;     /* bytes that a cell may take */
    int head_of_check; /* rows are checked with heads from this one on, one for each sequence */
    const volatile sig_atomic_t *interrupted;
};

/* Bytes of K and V that a cell takes: the tree's, and copies where something is shared. */
double bench_cell_memory(const struct bench_load *load, const struct bench_plans *plans);

/* Writes *cell, whose load is set. Returns 0, or -1 when the system gives no memory or no thread. */
int bench_cell_measure(struct bench_bench *bench, struct bench_cell *cell);

/* Seconds that decoding takes at least in round i: the larger of bytes by bandwidth and operations by rate. */
double bench_cell_limit(const struct bench_cell *cell, int i);

/* The same in seconds that processors work. */
double bench_cell_cpu_limit(const struct bench_cell *cell, int i);

/* Of the rounds: a series in units of the limit, and of opt/; by wall time, and by CPU time. */
struct bench_spread bench_of_limit(const struct bench_cell *cell, int series);
struct bench_spread bench_cpu_of_limit(const struct bench_cell *cell, int series);
struct bench_spread bench_of_tree(const struct bench_cell *cell, int series);
struct bench_spread bench_cpu_of_tree(const struct bench_cell *cell, int series);

/* The least that processors worked for us in a round's probes. Below BENCH_BUSY others were at work: CPU time then says
 * more. */
double bench_cell_share(const struct bench_cell *cell);
#define BENCH_BUSY 0.9

#endif
