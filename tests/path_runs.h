/* SPDX-License-Identifier: Apache-2.0 */
/* For plans that tests make by hand. */
#ifndef CHUNKPROOF_TESTS_PATH_RUNS_H
#define CHUNKPROOF_TESTS_PATH_RUNS_H

#include "chunkproof/plan.h"

/* PLAN-7: gives the chunks of a path, which has its length, their keys and positions. */
static inline void path_runs(struct cp_plan_sequence *path, int chunk_size) {
    for (int k = 0, left = path->n_tokens; k < path->n_chunks; k++, left -= chunk_size) {
        path->run[k].n_tokens = left < chunk_size ? left : chunk_size;
        path->run[k].position = k * chunk_size;
    }
}

/* PLAN-1: the plan has n sequences, and its descriptors serve ranges of these. */
static inline void list_sequences(struct cp_plan *plan, int n) {
    plan->n_sequences = plan->n_served = n;
    for (int s = 0; s < n; s++) {
        plan->served[s] = s;
    }
}

#endif
