/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels walk: the plan cut into tasks, in one array of int that is copied to the device
 * (spec/two_phase.md, TPP-1, TPP-2).
 *
 * A task is a run of consecutive chunks on the same paths, with the list of sequences that have
 * these paths. Shared chunks come first, in the order of the plan, then each sequence's own. The
 * block that does a task keeps one partial result for each of its query rows and heads, merged in
 * registers along the task's chunks. The block that finishes a query row merges the partial results
 * of the tasks on its path, in the order of the tasks.
 *
 *     path of S0     C0 C1 C2 | C3 C4        tasks: (C0 C1, [0,2)), (C2, [0,2)), (C3 C4, [0,1)),
 *     path of S1     C0 C1 C2 | C5                  (C5, [1,2)), with two chunks per task
 *
 * Tasks do not depend on the length of a sequence's last chunk. While the plan's paths stay the
 * same (PLAN-6), only n_keys and position are rewritten. */
#ifndef CHUNKPROOF_KERNELS_SCHEDULE_H
#define CHUNKPROOF_KERNELS_SCHEDULE_H

#include <stddef.h>

#include "chunkproof/plan.h"
#include "chunkproof/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Chunks chunk[first_chunk .. first_chunk + n_chunks) of the sequences served[begin .. end) of the
 * plan; of one sequence alone, `begin` is its number. They hold n_keys keys (below), at the
 * positions position .. position + n_keys - 1 of each of these sequences. All chunks but the last
 * are full: a task ends behind one that is not (RUNS-4). The n_rows query rows of these sequences,
 * in their order, have the partial results first_part, first_part + 1, ... (RUNS-5) */
struct cp_task {
    int first_chunk;
    int n_chunks;
    int position;
    int begin;
    int end;
    int first_part;
    int n_rows;
};

/* Sizes, and where each array begins in the array of int; the arrays are in this order. */
struct cp_schedule {
    int n_sequences;     /* b */
    int n_rows;          /* query rows */
    int n_tasks;         /* all tasks */
    int n_shared_tasks;  /* the first tasks: those with two sequences or more */
    int n_parts;         /* rows of partial results, of h heads each */
    int most_rows;       /* query rows of the largest task */
    int chunks_per_task; /* a task has at most this many */
    size_t task;         /* [n_tasks] struct cp_task */
    size_t chunk;        /* [all chunks of all tasks] chunk of the pool */
    /* Sequence s has source[source_begin[s] .. source_begin[s + 1]): for each task on its path, the
     * partial result of its first query row. */
    size_t source_begin; /* [b + 1] */
    size_t source;
    size_t query_begin; /* [b + 1] query rows of each sequence, PREFILL-1 */
    size_t sequence;    /* [n_rows] the sequence of each query row */
    size_t row;         /* [n_parts] the query row of each row of partial results */
    size_t n_keys;      /* [n_tasks] keys of each task */
    size_t position;    /* [n_rows] where each query row stands, PREFILL-1 */
    size_t n_numbers;   /* of all arrays together */
};

/* Computes the sizes of the arrays, for a valid plan, query ranges (NULL: one query each) and tasks
 * of at most chunks_per_task >= 1 chunks. Linear in the plan and in the pairs (task, sequence).
 *   CP_ERROR_ARGUMENT  a pointer is NULL, or chunks_per_task is below 1
 *   CP_ERROR_SHAPE     query_begin does not begin at 0, or decreases; or there are more than
 *                      INT_MAX partial results */
int cp_schedule_measure(struct cp_schedule *schedule, const struct cp_plan *plan,
                        const int *query_begin, int chunks_per_task);

/* Writes the arrays: numbers[0 .. n_numbers). The plan and the query ranges must be those that were
 * measured. position is that of PREFILL-1, [n_rows], or NULL: the rows of each sequence stand at
 * its last positions. */
void cp_schedule_write(const struct cp_schedule *schedule, const struct cp_plan *plan,
                       const int *query_begin, const int *position, int *numbers);

/* Writes only what changes with lengths (PLAN-6), which is part of n_keys, and position. The plan's
 * paths must be those that were measured, and all arrays be there. */
void cp_schedule_write_lengths(const struct cp_schedule *schedule, const struct cp_plan *plan,
                               const int *position, int *numbers);

/* 1 when the arrays have these positions of query rows for this plan, given as above, else 0. */
int cp_schedule_has_positions(const struct cp_schedule *schedule, const struct cp_plan *plan,
                              const int *position, const int *numbers);

#ifdef __cplusplus
}
#endif

#endif
