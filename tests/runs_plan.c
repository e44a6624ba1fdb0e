/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runs_plan.h"

#include <string.h>

#include "tests/path_runs.h"
#include "tests/runs_case.h"

static void add_run(struct cp_plan_sequence *list, const struct cp_run *run) {
    list->run[list->n_chunks++] = *run;
    list->n_tokens += run->n_tokens;
}

/* Of the sequences that descriptor i serves, those before s are done. Finds the next range of them,
 * [begin, end), or returns 0. */
static int next_range(const struct cp_plan *plan, int i, int s, int *begin, int *end) {
    int member[RUNS_SEQUENCES + 1] = {0};
    for (int at = plan->shared[i].begin; at < plan->shared[i].end; at++) {
        member[plan->served[at]] = 1;
    }
    while (s < plan->n_sequences && !member[s]) {
        s++;
    }
    *begin = s;
    while (member[s]) {
        s++;
    }
    *end = s;
    return *begin < *end;
}

static struct cp_run run_of(const struct cp_shared_chunk *shared) {
    return (struct cp_run){shared->chunk, shared->n_tokens, shared->position};
}

/* RUNS-9: one descriptor for each maximal range of two sequences or more. */
static void take_ranges(struct cp_plan *to, const struct cp_plan *plan, int i) {
    struct cp_run run = run_of(&plan->shared[i]);
    int begin, end = 0;
    while (next_range(plan, i, end, &begin, &end)) {
        if (end - begin >= 2) {
            to->shared[to->n_shared++] =
                (struct cp_shared_chunk){run.chunk, begin, end, run.n_tokens, run.position};
            for (int s = begin; s < end; s++) {
                add_run(&to->sequence[s], &run);
                to->sequence[s].n_shared++;
            }
        }
    }
}

/* The sequences of ranges of at most `most` have the run as their own. */
static void take_own(struct cp_plan *to, const struct cp_plan *plan, int i, int most) {
    struct cp_run run = run_of(&plan->shared[i]);
    int begin, end = 0;
    while (next_range(plan, i, end, &begin, &end)) {
        for (int s = begin; s < end && end - begin <= most; s++) {
            add_run(&to->sequence[s], &run);
        }
    }
}

/* RUNS-2, RUNS-3: lists and descriptors, and the runs that these give. */
static void take_lists(struct cp_plan *to, const struct cp_plan *plan) {
    to->n_served = plan->n_served;
    memcpy(to->served, plan->served, (size_t)plan->n_served * sizeof *plan->served);
    to->n_shared = plan->n_shared;
    memcpy(to->shared, plan->shared, (size_t)plan->n_shared * sizeof *plan->shared);
    for (int s = 0; s < plan->n_sequences; s++) {
        to->sequence[s].n_shared = plan->sequence[s].n_shared;
        for (int k = 0; k < plan->sequence[s].n_shared; k++) {
            add_run(&to->sequence[s], &plan->sequence[s].run[k]);
        }
    }
}

void runs_as_plan(struct cp_plan *to, const struct cp_plan *plan, int way) {
    to->capacity = plan->capacity;
    to->chunk_size = plan->chunk_size;
    list_sequences(to, plan->n_sequences);
    to->n_shared = 0;
    for (int s = 0; s < plan->n_sequences; s++) {
        to->sequence[s].n_tokens = to->sequence[s].n_chunks = to->sequence[s].n_shared = 0;
    }
    for (int i = 0; i < plan->n_shared && way == RUNS_RANGES; i++) {
        take_ranges(to, plan, i);
    }
    for (int i = 0; i < plan->n_shared && way != RUNS_LISTS; i++) {
        take_own(to, plan, i, way == RUNS_RANGES ? 1 : RUNS_SEQUENCES);
    }
    if (way == RUNS_LISTS) {
        take_lists(to, plan);
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct cp_plan_sequence *from = &plan->sequence[s];
        for (int i = from->n_shared; i < from->n_chunks; i++) {
            add_run(&to->sequence[s], &from->run[i]);
        }
    }
}

void runs_move(struct cp_plan *plan, int by) {
    for (int i = 0; i < plan->n_shared; i++) {
        plan->shared[i].position += by;
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int i = 0; i < plan->sequence[s].n_chunks; i++) {
            plan->sequence[s].run[i].position += by;
        }
    }
}
