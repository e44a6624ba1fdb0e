/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of runs (runs.h) as plans of the library, in each way that it can have them. */
#ifndef CHUNKPROOF_TESTS_RUNS_PLAN_H
#define CHUNKPROOF_TESTS_RUNS_PLAN_H

#include "tests/runs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RUNS_ALONE,  /* no descriptors: each sequence reads all runs as its own */
    RUNS_RANGES, /* RUNS-9: descriptors serve maximal ranges of two sequences or more */
    RUNS_LISTS,  /* RUNS-2: descriptors serve any lists; the plan as it is */
    RUNS_WAYS
};

/* Writes all of *to but the stamp. */
void runs_as_plan(struct cp_plan *to, const struct run_plan *plan, int way);

#ifdef __cplusplus
}
#endif

#endif
