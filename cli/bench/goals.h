/* SPDX-License-Identifier: Apache-2.0 */
/* The library's goals, compared with what was measured. Nothing depends on them. */
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
    int at_least; /* 1: the value must be at least `wanted`; 0: at most */
    int n;        /* how many of its cells were measured */
    double worst, best;
    char where[GOAL_TEXT]; /* the place of the worst value */
};

int bench_goal_met(const struct bench_goal *goal);

/* Adds a value. */
void bench_goal_add(struct bench_goal *goal, double value, const char *where);

/* Writes the GOALS_OF_ATTENTION goals of attention. */
#define GOALS_OF_ATTENTION 5
void bench_goals_of_attention(struct bench_goal *goal, const struct bench_cell *cell, int n);

/* Writes the GOALS_OF_TREES goals of the tree. A generated trace does not count for any goal. */
#define GOALS_OF_TREES 2
void bench_goals_of_trees(struct bench_goal *goal, const struct forest *forest,
                          const struct traffic *traffic, int is_real);

/* A cell beside its fastest peer, and beside the machine. */
struct bench_standing {
    const char *peer;            /* NULL: none was measured */
    double ahead;                /* the peer's time, in units of ours */
    double reading, multiplying; /* the parts of both limits (spec/bench.md) that we reach */
    double at_limit;             /* `ahead`, if we took no longer than the larger limit */
};

struct bench_standing bench_stands(const struct bench_cell *cell);

#define BENCH_AHEAD   2.0 /* the goal */
#define BENCH_REACHED 0.8 /* from here on a limit is said to be what limits */

/* Which limit is reached: "reading", "multiplying" or "both"; "our loops": neither. */
const char *bench_limited_by(const struct bench_standing *standing);

#endif
