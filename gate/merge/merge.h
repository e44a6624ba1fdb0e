/* SPDX-License-Identifier: Apache-2.0 */
/* The gate for kernels that merge finished results (MERGING-9 to MERGING-11):
 *
 *   seed, index -> recipe -> problem, values -> arrays -> runner -> judge -> finding -> result
 *
 * then the smallest case of each verdict is made smaller and kept (save.h), and `chunkproof replay`
 * and `chunkproof explain` run it again (replay.h). A file of --state keeps how far it came
 * (kind.h), and rules.h shows results to the rules of others. */
#ifndef CHUNKPROOF_GATE_MERGE_MERGE_H
#define CHUNKPROOF_GATE_MERGE_MERGE_H

#include "gate/merge/check.h"
#include "gate/report/report.h"

/* Checks the kernel that merges, prints the report, and writes the files that are open. Returns an
 * exit status. */
int merge_gate(const struct gate_options *options, struct gate_files *files, struct runner *runner,
               gate_starter *start, void *context, const volatile int *stop);

#endif
