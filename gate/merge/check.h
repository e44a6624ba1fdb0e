/* SPDX-License-Identifier: Apache-2.0 */
/* Runs cases of a kernel that merges, in several processes at once. */
#ifndef CHUNKPROOF_GATE_MERGE_CHECK_H
#define CHUNKPROOF_GATE_MERGE_CHECK_H

#include "gate/merge/result.h"
#include "gate/runner/runner.h"
#include "gate/search/options.h"
#include "gate/search/workers.h"

/* Runs one case. Returns 1 and what was found; 0 where the kernel takes no sizes, with the reason
 * in the finding's text; or -1 after saying why there is no verdict. */
struct merge_counts {
    long long runs, laws;
};
int merge_check_case(const struct gate_options *options, struct runner *runner, long long index,
                     const volatile int *stop, struct merge_found *found,
                     struct merge_counts *counts);

/* Runs all cases of the options, in options->jobs threads; the first one uses `runner`. 0, or -1
 * after saying why there is no verdict. */
int merge_check(const struct gate_options *options, struct runner *runner, gate_starter *start,
                void *context, struct merge_result *result, const volatile int *stop);

#endif
