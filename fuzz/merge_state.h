/* SPDX-License-Identifier: Apache-2.0 */
/* For fuzzing files of --state of kernels that merge. */
#ifndef CHUNKPROOF_FUZZ_MERGE_STATE_H
#define CHUNKPROOF_FUZZ_MERGE_STATE_H

#include <stdio.h>

#include "gate/report/report.h"

/* The report of a struct merge_result: GATE_FORMATS for the text. 0, or -1. */
int fuzz_merge_report(FILE *file, const void *result, int format);

#endif
