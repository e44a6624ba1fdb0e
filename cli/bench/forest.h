/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the prefix tree of opt/: its operations for several numbers of live sequences, and the
 * join of a long prompt. */
#ifndef CHUNKPROOF_CLI_BENCH_FOREST_H
#define CHUNKPROOF_CLI_BENCH_FOREST_H

#include "cli/bench/attention.h"

#define FOREST_SIZES 5

enum forest_operation {
    FOREST_LOOKUP,
    FOREST_JOIN,
    FOREST_LEAVE,
    FOREST_APPEND,
    FOREST_STEP,         /* one token for each sequence; the time is per sequence */
    FOREST_PLAN_ANEW,    /* update after more joins and leaves than a tree keeps: a rebuild */
    FOREST_PLAN,         /* update after a join */
    FOREST_PLAN_LENGTHS, /* update after a step */
    FOREST_OPERATIONS
};

extern const char *const forest_words[FOREST_OPERATIONS];

/* A prompt has FOREST_PROMPT tokens. The first FOREST_SHARED of them are one of FOREST_GROUPS
 * prefixes. Chunks have FOREST_CHUNK tokens. */
#define FOREST_PROMPT 1024
#define FOREST_SHARED 512
#define FOREST_GROUPS 16
#define FOREST_CHUNK  64

/* The long join: a prompt of 4096 tokens, of which the tree has 2048, among FOREST_LONG_LIVE
 * sequences like it. */
#define FOREST_LONG        4096
#define FOREST_LONG_SHARED 2048
#define FOREST_LONG_LIVE   1000

struct forest_size {
    int live;
    int n_rounds;                                         /* 0: not measured */
    double needs;                                         /* approximate bytes */
    double seconds[FOREST_OPERATIONS][BENCH_MOST_ROUNDS]; /* of one operation */
};

struct forest {
    struct forest_size size[FOREST_SIZES];
    int n_sizes;
    struct bench_law law[FOREST_OPERATIONS]; /* how the medians grow with live sequences */
    int has_law;
    int n_long;
    double warm[BENCH_MOST_ROUNDS]; /* the long join, after an equal one has left, */
    double cold[BENCH_MOST_ROUNDS]; /* and after other memory has been read */
};

/* Returns EXIT_RIGHT; EXIT_FINDING, after a message, when the tree refuses an operation or breaks a
 * clause; or EXIT_BAD_USE: out of memory. */
int forest_measure(const struct bench_bench *bench, int smoke, struct forest *forest);

#endif
