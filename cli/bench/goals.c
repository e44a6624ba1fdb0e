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

/* The peers' fastest, in units of ours; below 0: none was measured. */
static double fastest_peer(const struct bench_cell *cell) {
    double least = -1.0;
    for (int i = bench_ours_of(&cell->load); i < cell->n_series; i++) {
        double ratio = cell->series[i].measured ? of_tree(cell, i) : -1.0;
        least = ratio > 0.0 && (least < 0.0 || ratio < least) ? ratio : least;
    }
    return least;
}

/* Bytes of the cell over its time, in units of the bandwidth. */
static double of_bandwidth(const struct bench_cell *cell) {
    double share[BENCH_MOST_ROUNDS];
    for (int i = 0; i < cell->n_rounds; i++) {
        const struct bench_series *tree = &cell->series[BENCH_TREE];
        share[i] = is_busy(cell) ? cell->bytes / tree->cpu[i] / cell->cpu_read[i]
                                 : cell->bytes / tree->wall[i] / cell->read[i];
    }
    return bench_spread_of(share, cell->n_rounds).median;
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
                                  .wanted = 1.0,
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
        double peer = fastest_peer(&cell[i]);
        if (peer > 0.0) {
            bench_goal_add(&goal[3], peer, name);
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
