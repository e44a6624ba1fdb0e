/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/goals.h"

#include <stdio.h>

int bench_goal_met(const struct bench_goal *goal) {
    return goal->n > 0 &&
           (goal->at_least ? goal->worst >= goal->wanted : goal->worst <= goal->wanted);
}

void bench_goal_add(struct bench_goal *goal, double value, const char *where) {
    int is_worse = goal->at_least ? value < goal->worst : value > goal->worst;
    int is_better = goal->at_least ? value > goal->best : value < goal->best;
    if (goal->n == 0 || is_worse) {
        goal->worst = value;
        (void)snprintf(goal->where, sizeof goal->where, "%s", where);
    }
    if (goal->n == 0 || is_better) {
        goal->best = value;
    }
    goal->n++;
}

/* By wall time; where other processes were at work, by CPU time. */
static int is_busy(const struct bench_cell *cell) {
    return bench_cell_share(cell) < BENCH_BUSY;
}

static double of_limit(const struct bench_cell *cell) {
    return is_busy(cell) ? bench_cpu_of_limit(cell, BENCH_TREE).median
                         : bench_of_limit(cell, BENCH_TREE).median;
}

static double of_tree(const struct bench_cell *cell, int series) {
    return is_busy(cell) ? bench_cpu_of_tree(cell, series).median
                         : bench_of_tree(cell, series).median;
}

/* Of the machine's rate, which each round has measured, the part that some work is: by the clock
 * that counts. */
static double part_of(const struct bench_cell *cell, double work, const double *rate,
                      const double *cpu_rate) {
    double share[BENCH_MOST_ROUNDS];
    for (int i = 0; i < cell->n_rounds; i++) {
        const struct bench_series *tree = &cell->series[BENCH_TREE];
        share[i] =
            is_busy(cell) ? work / tree->cpu[i] / cpu_rate[i] : work / tree->wall[i] / rate[i];
    }
    return bench_spread_of(share, cell->n_rounds).median;
}

static double of_bandwidth(const struct bench_cell *cell) {
    return part_of(cell, cell->bytes, cell->read, cell->cpu_read);
}

struct bench_standing bench_stands(const struct bench_cell *cell) {
    struct bench_standing standing = {.peer = NULL};
    for (int i = bench_ours_of(&cell->load); i < cell->n_series && cell->n_rounds > 0; i++) {
        double ratio = cell->series[i].measured ? of_tree(cell, i) : -1.0;
        if (ratio > 0.0 && (standing.peer == NULL || ratio < standing.ahead)) {
            standing.peer = cell->series[i].name;
            standing.ahead = ratio;
        }
    }
    if (standing.peer != NULL) {
        standing.reading = of_bandwidth(cell);
        standing.multiplying = part_of(cell, cell->fp32_flops, cell->multiply, cell->cpu_multiply);
        standing.at_limit = standing.ahead * of_limit(cell);
    }
    return standing;
}

const char *bench_limited_by(const struct bench_standing *standing) {
    int reads = standing->reading >= BENCH_REACHED;
    int multiplies = standing->multiplying >= BENCH_REACHED;
    return reads && multiplies ? "both"
           : reads             ? "reading"
           : multiplies        ? "multiplying"
                               : "our loops";
}

void bench_goals_of_attention(struct bench_goal *goal, const struct bench_cell *cell, int n) {
    goal[0] = (struct bench_goal){.what = "n_s = n_p, b = 32: speedup over paged*",
                                  .unit = "x",
                                  .wanted = 4.0,
                                  .at_least = 1};
    goal[1] = (struct bench_goal){
        .what = "n_s = n_p, b = 32: time / larger limit", .unit = "x", .wanted = 2.0};
    goal[2] = (struct bench_goal){
        .what = "n_s = 0: part of the read bandwidth", .unit = "", .wanted = 0.9, .at_least = 1};
    goal[3] = (struct bench_goal){.what = "every load: speedup over the fastest peer",
                                  .unit = "x",
                                  .wanted = BENCH_AHEAD,
                                  .at_least = 1};
    goal[4] = (struct bench_goal){.what = "K and V of 8 bits: speedup over binary16",
                                  .unit = "x",
                                  .wanted = 1.8,
                                  .at_least = 1};
    for (int i = 0; i < n; i++) {
        char name[BENCH_LOAD_TEXT];
        int shared = bench_load_shared(&cell[i].load);
        int is_grouped = cell[i].load.n_heads != cell[i].load.n_kv_heads;
        if (cell[i].end != BENCH_MEASURED) {
            continue;
        }
        bench_load_print(&cell[i].load, name);
        if (shared == cell[i].load.n && cell[i].load.b == 32 && !is_grouped) {
            bench_goal_add(&goal[0], of_tree(&cell[i], BENCH_PAGES), name);
            bench_goal_add(&goal[1], of_limit(&cell[i]), name);
        }
        if (shared == 0 && bench_ours_of(&cell[i].load) == BENCH_OURS) {
            bench_goal_add(&goal[2], of_bandwidth(&cell[i]), name);
        }
        struct bench_standing standing = bench_stands(&cell[i]);
        if (standing.peer != NULL) {
            bench_goal_add(&goal[3], standing.ahead, name);
        }
        if (bench_load_is_short(&cell[i].load)) {
            bench_goal_add(&goal[4], of_tree(&cell[i], BENCH_WIDE), name);
        }
    }
}

void bench_goals_of_trees(struct bench_goal *goal, const struct forest *forest,
                          const struct traffic *traffic, int is_real) {
    goal[0] = (struct bench_goal){
        .what = "microseconds to join 4096 tokens, 2048 shared", .unit = "us", .wanted = 20.0};
    goal[1] = (struct bench_goal){
        .what = "seconds to replay a real trace, all retained", .unit = "s", .wanted = 2.0};
    if (forest->n_long > 0) {
        bench_goal_add(&goal[0], 1e6 * bench_spread_of(forest->warm, forest->n_long).median,
                       "in the caches");
        bench_goal_add(&goal[0], 1e6 * bench_spread_of(forest->cold, forest->n_long).median,
                       "not in the caches");
    }
    if (traffic->source != NULL && is_real) {
        bench_goal_add(&goal[1], traffic->replay, "with its checks");
    }
}
