/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of runs in plain C (spec/runs.md): the check, and attention in two phases. A small
 * reference for tests, in double precision and without any speed. */
#ifndef CHUNKPROOF_TESTS_RUNS_H
#define CHUNKPROOF_TESTS_RUNS_H

#include "chunkproof/attention.h"

/* The most that a plan here has room for. */
#define RUNS_SEQUENCES 8
#define RUNS_OF_ONE    64
#define RUNS_SHARED    64
#define RUNS_SERVED    64

/* RUNS-3: the first n_shared runs are those of descriptors, in the order of these. */
struct run_sequence {
    int n_runs;
    int n_shared;
    struct cp_run run[RUNS_OF_ONE];
};

/* RUNS-2: descriptor i serves the sequences served[shared[i].begin .. shared[i].end). */
struct run_plan {
    int capacity;
    int chunk_size;
    int n_sequences;
    int n_shared;
    int n_served;
    int served[RUNS_SERVED];
    struct cp_shared_chunk shared[RUNS_SHARED];
    struct run_sequence sequence[RUNS_SEQUENCES];
};

/* NULL for a valid plan, else the first clause that it breaks. Takes any content whose numbers of
 * sequences, descriptors, runs and entries of `served` are within the room. */
const char *runs_check(const struct run_plan *plan);

/* RUNS-5 for a valid plan. Of `a` it takes all but plan, stamp and workspace; out is of doubles.
 * Row r stands at position[r]. */
void runs_attend(const struct run_plan *plan, const struct cp_attention *a, const int *position);

#endif
