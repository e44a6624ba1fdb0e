/* SPDX-License-Identifier: Apache-2.0 */
/* What the library wants to reach, beside what was measured. Nothing depends on it. */
#ifndef CHUNKPROOF_CLI_BENCH_GOALS_H
#define CHUNKPROOF_CLI_BENCH_GOALS_H

#include "cli/bench/attention.h"
#include "cli/bench/forest.h"
#include "cli/bench/traffic.h"

#define BENCH_MOST_GOALS 16
#define GOAL_TEXT        BENCH_LOAD_TEXT

struct bench_goal {
    const char *what, *unit;
    double wanted;
    int at_least; /* 1: the measured value is to be as large; 0: at most so large */
    int n;        /* cells that it is about and that were measured; 0: nothing was */
    double worst, best;
    char where[GOAL_TEXT]; /* the worst */
};

int bench_goal_met(const struct bench_goal *goal);

/* One more value. */
void bench_goal_add(struct bench_goal *goal, double value, const char *where);

/* Of attention: writes GOALS_OF_ATTENTION. */
#define GOALS_OF_ATTENTION 4
void bench_goals_of_attention(struct bench_goal *goal, const struct bench_cell *cell, int n);

/* Of the tree: writes GOALS_OF_TREES. A generated trace is none of the goals. */
#define GOALS_OF_TREES 2
void bench_goals_of_trees(struct bench_goal *goal, const struct forest *forest,
                          const struct traffic *traffic, int is_real);

#endif
