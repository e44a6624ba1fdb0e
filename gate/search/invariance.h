/* SPDX-License-Identifier: Apache-2.0 */
/* CONV-5: the bits of a row that a kernel says are the same alone and among others, and however the
 * rows of its sequence are cut into calls. */
#ifndef CHUNKPROOF_GATE_SEARCH_INVARIANCE_H
#define CHUNKPROOF_GATE_SEARCH_INVARIANCE_H

#include "gate/case/layout.h"
#include "gate/search/checking.h"

/* Results of a case, kept beyond its arrays. */
struct gate_results {
    struct cp_kernel_call call; /* the strides; its arrays are gone */
    unsigned char *out, *lse;
};

/* Copies the results of a run. 0, or -1: no memory. gate_results_free() takes zeros. */
int gate_results_keep(struct gate_results *results, const struct gate_arrays *arrays);
void gate_results_free(struct gate_results *results);

/* Runs one sequence of a case again that was right, alone; and, if the kernel declares that, its
 * rows in two calls. The finding is the first number with other bits than in `whole`, or what goes
 * wrong. What the kernel does not take is left out. 0, or -1: no verdict. */
int gate_run_parts(struct checking *checking, const struct gate_problem *problem,
                   const struct gate_results *whole, struct gate_finding *finding);

#endif
