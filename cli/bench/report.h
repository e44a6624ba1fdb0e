/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what was measured. */
#ifndef CHUNKPROOF_CLI_BENCH_REPORT_H
#define CHUNKPROOF_CLI_BENCH_REPORT_H

#include <stdio.h>

#include "cli/bench/attention.h"
#include "cli/bench/forest.h"
#include "cli/bench/goals.h"
#include "cli/bench/machine.h"
#include "cli/bench/options.h"
#include "cli/bench/tiers.h"
#include "cli/bench/traffic.h"

struct bench_report {
    const struct bench_options *options;
    struct bench_machine machine;
    int version, threads; /* of opt/ */
    const char *way;      /* how memory was read */
    double seconds;       /* of the whole run */
    int interrupted;
    struct bench_spread read;     /* bytes per second, before the cells: of bench_limits_read() */
    struct bench_spread multiply; /* floating-point operations per second */
    struct bench_cell cell[BENCH_MOST_LOADS]; /* of attention */
    int n_cells;
    struct forest forest; /* n_sizes 0: not measured */
    struct traffic traffic;
    struct tier tier[GATE_TIERS];
    struct bench_cost_fit fit; /* of attention, when has_fit */
    int has_fit;
    struct bench_goal goal[BENCH_MOST_GOALS];
    int n_goals;
};

/* Tables. */
void bench_report_text(const struct bench_report *report, FILE *out);

/* spec/bench-report.schema.json. Returns 0, or -1: out of memory, or it cannot be written. */
int bench_report_json(const struct bench_report *report, FILE *out);

/* A heading, then a row for each series. */
void bench_report_csv(const struct bench_report *report, FILE *out);

/* What an iteration costs on this machine, for `chunkproof simulate`
 * (spec/simulate-cost.schema.json). report->has_fit is 1. Returns 0, or -1 when it cannot be
 * written. */
int bench_report_cost(const struct bench_report *report, FILE *out);

/* Tree, trace and gate, of text and CSV. */
void bench_report_rest(const struct bench_report *report, FILE *out);
void bench_report_rest_csv(const struct bench_report *report, FILE *out);

/* What the loop of a version is, in words: "AVX-512". */
const char *bench_unit_words(int version);

#endif
