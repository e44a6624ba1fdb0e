/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on a kernel that merges, as text and as JSON. */
#ifndef CHUNKPROOF_GATE_MERGE_REPORT_H
#define CHUNKPROOF_GATE_MERGE_REPORT_H

#include <stdio.h>

#include "gate/merge/result.h"
#include "gate/search/options.h"

struct merge_report {
    const struct gate_options *options;
    const struct cp_merge_kernel *kernel;
    const struct merge_result *result;
    unsigned contained; /* what held the kernel: bits of enum run_contained */
};

/* The caller frees the texts. */
char *merge_takes(const struct cp_merge_kernel *kernel);       /* types, parts, orders */
char *merge_conventions(const struct cp_merge_kernel *kernel); /* "": those of MERGING-9 */
char *merge_declares(const struct cp_merge_kernel *kernel);    /* the arithmetic */
char *merge_run_again(const struct merge_report *report);      /* the whole run */
char *merge_again(const struct merge_report *report, const struct merge_found *found);

/* The command that explains a case; NULL: no file has it, or its numbers are not what is wrong. */
char *merge_why(const struct merge_report *report, const struct merge_found *found);

/* 1: the command for the case also runs the cases before it. */
int merge_needs_others(const struct merge_found *found);

void merge_print_text(FILE *file, const struct merge_report *report);

/* spec/gate-merging-report.schema.json. 0, or -1: no memory, or the file could not be written. */
int merge_print_json(FILE *file, const struct merge_report *report);

/* JUnit XML, and a page. As above. */
int merge_print_junit(FILE *file, const struct merge_report *report);
int merge_print_html(FILE *file, const struct merge_report *report);

#endif
