/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a simulated cache, and how they are printed. */
#ifndef CHUNKPROOF_CLI_MODULES_REPORT_H
#define CHUNKPROOF_CLI_MODULES_REPORT_H

#include <stdio.h>

#include "cli/modules/options.h"
#include "cli/modules/run.h"

/* Of some times, in ms; all 0 when there are none. p50 and p99 are nearest ranks: the smallest that
 * half of them, 99 % of them, do not exceed. */
struct modules_spread {
    double mean, p50, p99;
};

struct modules_summary {
    struct modules_spread cached, full; /* ms to the first token */
    double faster;                      /* mean of full by mean of cached */
    double token_bytes;                 /* of keys and values */
    double reduction; /* by how much batches have less in memory that share modules: 0 to 1 */
};

struct modules_report {
    const struct modules_options *options;
    const struct modules_settings *settings;
    const struct modules_items *items;
    const struct modules_run *run;
    struct modules_summary summary;
    int is_interrupted;
};

/* Puts the run's times in order. */
struct modules_summary modules_summarise(const struct modules_settings *settings,
                                         struct modules_run *run);

/* Text of at most 100 columns. */
void modules_report_text(const struct modules_report *report, FILE *out);

/* spec/simulate-modules-report.schema.json. Returns 0, or -1 when there is no memory or it cannot
 * be written. */
int modules_report_json(const struct modules_report *report, FILE *out);

#endif
