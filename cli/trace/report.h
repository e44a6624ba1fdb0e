/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what a replay found. */
#ifndef CHUNKPROOF_CLI_TRACE_REPORT_H
#define CHUNKPROOF_CLI_TRACE_REPORT_H

#include <stdio.h>

#include "cli/trace/options.h"

struct trace_report {
    const char *source;
    const struct trace *trace;
    const struct trace_settings *settings;
    const struct trace_figures *figures;
    long long needed; /* chunks for which nothing is rejected; 0 when it was not computed */
    double seconds;   /* of the replay */
};

void trace_report_text(const struct trace_report *report, FILE *out);

/* One object and a newline. Returns 0, or -1 when there is no memory. */
int trace_report_json(const struct trace_report *report, FILE *out);

/* One line about a violation, or about a pool that was too small; nothing otherwise. */
void trace_report_problem(const struct trace_report *report, FILE *out);

/* The exit status for figures.end. */
int trace_exit_status(int end);

#endif
