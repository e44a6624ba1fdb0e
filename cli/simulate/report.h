/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what simulations found. */
#ifndef CHUNKPROOF_CLI_SIMULATE_REPORT_H
#define CHUNKPROOF_CLI_SIMULATE_REPORT_H

#include <stdio.h>

#include "cli/simulate/options.h"
#include "cli/simulate/summary.h"
#include "cli/tables/published.h"

/* One load, without sharing [0] and with it [1]. */
struct simulate_point {
    struct simulate_poisson poisson; /* when the load is no file */
    int requests;
    struct simulate_run run[2]; /* without their records */
    struct simulate_summary summary[2];
    const struct cp_peak_row *published; /* two rows of ACL Table 4: vLLM, ChunkLlama; or NULL */
};

struct simulate_report {
    const struct simulate_options *options;
    const struct simulate_point *point;
    int n_points;
};

/* The figures of one point below each other, or a row for each of several. */
void simulate_report_text(const struct simulate_report *report, FILE *out);

/* spec/simulate-report.schema.json. Returns 0, or -1 when there is no memory or it cannot be
 * written. */
int simulate_report_json(const struct simulate_report *report, FILE *out);

/* A heading, then a row for each run. */
void simulate_report_csv(const struct simulate_report *report, FILE *out);

#endif
