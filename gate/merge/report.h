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
char *merge_again(const struct merge_report *report, const struct merge_found *found);

void merge_print_text(FILE *file, const struct merge_report *report);

/* spec/gate-merging-report.schema.json. 0, or -1: no memory, or the file could not be written. */
int merge_print_json(FILE *file, const struct merge_report *report);

#endif
