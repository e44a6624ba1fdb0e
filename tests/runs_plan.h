/* SPDX-License-Identifier: Apache-2.0 */
/* A plan of runs in each way that a plan can say it. */
#ifndef CHUNKPROOF_TESTS_RUNS_PLAN_H
#define CHUNKPROOF_TESTS_RUNS_PLAN_H

#include "chunkproof/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RUNS_ALONE,  /* no descriptors: each sequence reads all runs as its own */
    RUNS_RANGES, /* RUNS-9: descriptors serve maximal ranges of two sequences or more */
    RUNS_LISTS,  /* RUNS-2: descriptors serve any lists; the plan as it is */
    RUNS_WAYS
};

/* Makes *to the plan, of at most RUNS_SEQUENCES sequences (runs_case.h), in this way. Writes what
 * is in use, and not the stamp. */
void runs_as_plan(struct cp_plan *to, const struct cp_plan *plan, int way);

/* The same plan of the same keys, at positions that are larger by this. */
void runs_move(struct cp_plan *plan, int by);

#ifdef __cplusplus
}
#endif

#endif
