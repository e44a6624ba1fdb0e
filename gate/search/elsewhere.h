/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-4 beyond one process: the bits of a result follow from the call alone, not from the number
 * of a process or from where the system has put its memory. */
#ifndef CHUNKPROOF_GATE_SEARCH_ELSEWHERE_H
#define CHUNKPROOF_GATE_SEARCH_ELSEWHERE_H

#include "gate/case/layout.h"
#include "gate/judge/finding.h"

/* How many processes try a case that is known to differ: a single bit of their numbers is the same
 * in all of them once in 4,096 times. */
#define GATE_PROCESSES 12

/* Runs a call, which gave the results of `one`, in `processes` new processes, one after the other,
 * until one of them gives other bits, or misbehaves. `other` has room for its results, and the size
 * of the workspace. Returns how many runs there were; -1: no verdict, after saying why. */
int gate_run_elsewhere(const struct runner *runner, const struct gate_problem *problem,
                       const struct gate_arrays *one, struct gate_arrays *other, int processes,
                       struct gate_finding *finding);

#endif
