/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a schedule of the kernels (kernels/schedule.h) by walking the plan. */
#ifndef CHUNKPROOF_TESTS_SCHEDULE_CHECK_H
#define CHUNKPROOF_TESTS_SCHEDULE_CHECK_H

#include "attend_case.h"
#include "kernels/schedule.h"

/* A case's plan, cut into tasks. */
struct cut {
    const struct attend_case *c;
    struct cp_schedule s;
    int *numbers; /* and one more, a canary */
    const struct cp_task *task;
};

/* Cuts the plan. NULL, or what went wrong; the caller frees the cut in either case. */
const char *cut_make(struct cut *cut, const struct attend_case *c, int chunks_per_task);
void cut_free(struct cut *cut);

/* NULL when the tasks have every chunk of every path exactly once, and every query row finds their
 * partial results; else what is wrong. */
const char *cut_check(const struct cut *cut, int chunks_per_task);

/* All of it. */
const char *schedule_check(const struct attend_case *c, int chunks_per_task);

#endif
