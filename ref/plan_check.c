/* SPDX-License-Identifier: Apache-2.0 */
/* The executable invariant of a plan: what the phases rely on. It knows no tree, so that a plan from
 * anywhere can be checked. */
#include <stddef.h>

#include "chunkproof/plan.h"

static int plan_sizes_are_valid(const struct cp_plan *plan) {
    return 1 <= plan->chunk_size && plan->chunk_size <= CP_MAX_CHUNK_SIZE && 1 <= plan->capacity &&
           plan->capacity <= CP_MAX_CHUNKS && 0 <= plan->n_sequences &&
           plan->n_sequences <= CP_MAX_SEQUENCES && 0 <= plan->n_shared &&
           plan->n_shared <= plan->capacity;
}

/* PLAN-2 and PLAN-7 for one row: all its chunks but the last are full, and all shared ones. */
static const char *check_row(const struct cp_plan *plan, int s) {
    const struct cp_plan_row *row = &plan->row[s];
    if (row->n_chunks < 0 || row->n_chunks > CP_MAX_DEPTH || row->n_shared < 0 ||
        row->n_shared > row->n_chunks) {
        return "PLAN-2";
    }
    if (row->n_tokens < 0 || row->n_tokens > row->n_chunks * plan->chunk_size ||
        row->n_tokens <= (row->n_chunks - 1) * plan->chunk_size ||
        row->n_tokens < row->n_shared * plan->chunk_size) {
        return "PLAN-7";
    }
    for (int k = 0; k < row->n_chunks; k++) {
        if (row->chunk[k] < 0 || row->chunk[k] >= plan->capacity) {
            return "PLAN-2";
        }
    }
    return NULL;
}

/* PLAN-1 for one descriptor. */
static int descriptor_is_valid(const struct cp_plan *plan, const struct cp_shared_chunk *shared) {
    return 0 <= shared->chunk && shared->chunk < plan->capacity && 0 <= shared->begin &&
           shared->begin < shared->end && shared->end <= plan->n_sequences &&
           shared->end - shared->begin >= 2 && shared->n_tokens == plan->chunk_size &&
           0 <= shared->position && shared->position % plan->chunk_size == 0 &&
           shared->position / plan->chunk_size < CP_MAX_DEPTH;
}

/* PLAN-3: the chunk is on the shared part of every path in its range, at its position. */
static int descriptor_is_on_paths(const struct cp_plan *plan,
                                  const struct cp_shared_chunk *shared) {
    int k = shared->position / plan->chunk_size;
    for (int s = shared->begin; s < shared->end; s++) {
        if (k >= plan->row[s].n_shared || plan->row[s].chunk[k] != shared->chunk) {
            return 0;
        }
    }
    return 1;
}

/* PLAN-4: by first sequence, then from the root down. */
static int is_before(const struct cp_shared_chunk *a, const struct cp_shared_chunk *b) {
    return a->begin < b->begin || (a->begin == b->begin && a->position < b->position);
}

const char *cp_plan_check(const struct cp_plan *plan) {
    int covered_to[CP_MAX_DEPTH]; /* per depth: sequences below have been covered */
    long long listed = 0;         /* (sequence, shared chunk) pairs on the rows ... */
    long long covered = 0;        /* ... and in the ranges of the descriptors */
    if (!plan_sizes_are_valid(plan)) {
        return "PLAN-1";
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        const char *broken = check_row(plan, s);
        if (broken != NULL) {
            return broken;
        }
        listed += plan->row[s].n_shared;
    }
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        covered_to[k] = 0;
    }
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        if (!descriptor_is_valid(plan, shared)) {
            return "PLAN-1";
        }
        if (i > 0 && !is_before(&plan->shared[i - 1], shared)) {
            return "PLAN-4";
        }
        /* Ranges at one depth are disjoint, so no pair is covered twice, and the work is bounded by
         * the number of pairs. */
        int k = shared->position / plan->chunk_size;
        if (shared->begin < covered_to[k] || !descriptor_is_on_paths(plan, shared)) {
            return "PLAN-3";
        }
        covered_to[k] = shared->end;
        covered += shared->end - shared->begin;
    }
    return covered == listed ? NULL : "PLAN-3";
}

int cp_plan_is_valid(const struct cp_plan *plan) {
    return cp_plan_check(plan) == NULL;
}
