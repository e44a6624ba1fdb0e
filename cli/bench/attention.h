/* SPDX-License-Identifier: Apache-2.0 */
/* Measures one load of attention: opt/, the variants that share less, the peers, and the machine's
 * limits. */
#ifndef CHUNKPROOF_CLI_BENCH_ATTENTION_H
#define CHUNKPROOF_CLI_BENCH_ATTENTION_H

#include <signal.h>

#include "chunkproof/attention.h"
#include "chunkproof/opt.h"
#include "cli/bench/limits.h"
#include "cli/bench/load.h"
#include "cli/bench/peer.h"
#include "cli/bench/statistics.h"

/* Our own series: the same loops (cp_opt_attend) over different plans. A load with a window has one
 * more, without it; one of K and V of 8 bits has one more, in binary16. */
enum {
    BENCH_TREE,
    BENCH_PAGED,
    BENCH_PAGES,
    BENCH_OURS,
    BENCH_WHOLE = BENCH_OURS,
    BENCH_WIDE = BENCH_OURS,
    BENCH_MOST_OURS
};

#define BENCH_MOST_SERIES (BENCH_OURS + PEER_MOST_SERIES)

static inline int bench_ours_of(const struct bench_load *load) {
    return load->window > 0 || bench_load_is_short(load) ? BENCH_MOST_OURS : BENCH_OURS;
}

/* One series of a cell: the seconds of each round. */
struct bench_series {
    char name[PEER_TEXT];
    char note[PEER_TEXT]; /* how a peer computes it, or why it is not measured */
    int measured;
    double wall[BENCH_MOST_ROUNDS];
    double cpu[BENCH_MOST_ROUNDS]; /* of all its threads */
};

enum bench_end {
    BENCH_NOT_RUN, /* interrupted before its first round */
    BENCH_MEASURED,
    BENCH_NO_ROOM, /* it would take more memory than allowed */
    BENCH_WRONG    /* a result is outside the certified tolerance; not timed */
};

struct bench_cell {
    struct bench_load load;
    enum bench_end end;
    char note[2 * PEER_TEXT]; /* what was wrong, or how much memory it takes */
    long long distinct;       /* distinct tokens */
    double bytes, flops;      /* the least that decoding must move and do */
    double fp32_flops;        /* so many in binary32 take as long */
    int n_rounds, n_series;
    struct bench_series series[BENCH_MOST_SERIES];
    /* For each round, the medians of the probes before each series: bytes and operations per
     * second, and per second of processor time; and the smallest share of processor time that we
     * got, 0 .. 1. */
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
    double seconds;    /* for the rounds of a cell, */
    int least_rounds;  /* of which there are at least so many */
    int most_rounds;   /* and at most so many */
    double memory;     /* the most bytes of a cell */
    int head_of_check; /* each sequence is checked with one head, from this one on */
    const volatile sig_atomic_t *interrupted;
};

/* Bytes of K and V that a cell takes: the tree's, and copies where something is shared. */
double bench_cell_memory(const struct bench_load *load, const struct bench_plans *plans);

/* Writes *cell, whose load is set. Returns 0, or -1: out of memory or threads. */
int bench_cell_measure(struct bench_bench *bench, struct bench_cell *cell);

/* The least time of decoding in round i, in seconds: the larger of bytes / bandwidth and operations
 * / rate. */
double bench_cell_limit(const struct bench_cell *cell, int i);

/* The same in seconds of processor time. */
double bench_cell_cpu_limit(const struct bench_cell *cell, int i);

/* Over the rounds: the time of a series as a multiple of the limit, and of opt/'s time; by wall
 * time and by CPU time. */
struct bench_spread bench_of_limit(const struct bench_cell *cell, int series);
struct bench_spread bench_cpu_of_limit(const struct bench_cell *cell, int series);
struct bench_spread bench_of_tree(const struct bench_cell *cell, int series);
struct bench_spread bench_cpu_of_tree(const struct bench_cell *cell, int series);

/* The smallest share of processor time that we got in a round's probes. Below BENCH_BUSY, other
 * processes were at work; then CPU time says more than wall time. */
double bench_cell_share(const struct bench_cell *cell);
#define BENCH_BUSY 0.9

#endif
