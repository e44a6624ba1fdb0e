/* SPDX-License-Identifier: Apache-2.0 */
/* The prefix tree of opt/, measured: operations against how many sequences are alive, and a long prompt's join. */
#ifndef CHUNKPROOF_CLI_BENCH_FOREST_H
#define CHUNKPROOF_CLI_BENCH_FOREST_H

#include "cli/bench/attention.h"

#define FOREST_SIZES 5

enum forest_operation {
    FOREST_LOOKUP,
    FOREST_JOIN,
    FOREST_LEAVE,
    FOREST_APPEND,
    FOREST_STEP,      /* a token for each sequence, of one sequence */
    FOREST_PLAN_ANEW, /* brought up to date after more joins and leaves than a tree keeps: made anew */
    FOREST_PLAN,      /* after a join */
    FOREST_PLAN_LENGTHS, /* after a step */
    FOREST_OPERATIONS
};

extern const char *const forest_words[FOREST_OPERATIONS];

/* Prompts of the sequences: FOREST_PROMPT tokens, of which the first FOREST_SHARED are one of FOREST_GROUPS; chunks of
 * FOREST_CHUNK. */
#define FOREST_PROMPT 1024
#define FOREST_SHARED 512
#define FOREST_GROUPS 16
#define FOREST_CHUNK  64

/* The join of a prompt of 4096 tokens, of which the tree has 2048, among FOREST_LONG_LIVE others like it. */
#define FOREST_LONG        4096
#define FOREST_LONG_SHARED 2048
#define FOREST_LONG_LIVE   1000

struct forest_size {
    int live;
    int n_rounds;                                         /* 0: not measured */
    double needs;                                         /* bytes, about */
    double seconds[FOREST_OPERATIONS][BENCH_MOST_ROUNDS]; /* of one operation */
};

struct forest {
    struct forest_size size[FOREST_SIZES];
    int n_sizes;
    struct bench_law law[FOREST_OPERATIONS]; /* of the medians, by sequences that are alive */
    int has_law;
    int n_long;
    double warm[BENCH_MOST_ROUNDS]; /* the long join, after another one that has left, */
    double cold[BENCH_MOST_ROUNDS]; /* and after other memory was read */
};

/* Returns EXIT_RIGHT; EXIT_FINDING after saying so, when the tree refuses or breaks a clause; EXIT_BAD_USE: no memory. */
int forest_measure(const struct bench_bench *bench, int smoke, struct forest *forest);

#endif
