/* SPDX-License-Identifier: Apache-2.0 */
/* A plan with any content, for the harnesses that take plans and no tree. */
#ifndef CHUNKPROOF_PROOFS_ANY_PLAN_H
#define CHUNKPROOF_PROOFS_ANY_PLAN_H

#include "model.h"

static void any_plan(struct cp_plan *plan) {
    plan->capacity = any(3);
    plan->chunk_size = any(2);
    plan->n_sequences = any(3);
    plan->n_shared = any(3);
    plan->n_served = any(4);
    for (int at = 0; at < CP_MAX_SERVED; at++) {
        plan->served[at] = any(3);
    }
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        plan->shared[i].chunk = any(3);
        plan->shared[i].begin = any(4);
        plan->shared[i].end = any(4);
        plan->shared[i].n_tokens = any(2);
        plan->shared[i].position = any(3);
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        plan->sequence[s].n_tokens = any(3);
        plan->sequence[s].n_chunks = any(2);
        plan->sequence[s].n_shared = any(2);
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            plan->sequence[s].run[k].chunk = any(3);
            plan->sequence[s].run[k].n_tokens = any(2);
            plan->sequence[s].run[k].position = any(3);
        }
    }
}

#endif
