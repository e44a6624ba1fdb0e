/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels walk: the plan cut into tasks, as one array of int that is copied to a device as it is
 * (spec/two_phase.md, TPP-1, TPP-2).
 *
 * A task is a run of chunks that lie one behind the other on the same paths, with the range of sequences that
 * have these paths: shared chunks first, in the order of the plan, then each sequence's own. Whoever does a task
 * keeps one partial result for each of its query rows and heads, merged in registers along its chunks; whoever
 * finishes a query row merges the partial results of the tasks on its path, in the order of the tasks.
 *
 * Nothing here depends on how long the last chunk of a sequence is: while the plan's paths stay (PLAN-6), only
 * n_tokens is written anew. */
#ifndef CHUNKPROOF_KERNELS_SCHEDULE_H
#define CHUNKPROOF_KERNELS_SCHEDULE_H

#include <stddef.h>

#include "chunkproof/plan.h"
#include "chunkproof/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Chunks chunk[first_chunk .. first_chunk + n_chunks) of sequences begin .. end-1. The first key of the first of
 * them is number `position` of each of these sequences; all chunks are full but perhaps the last of a sequence. The
 * partial results of the query rows of these sequences are rows first_part, first_part + 1, ... of all partial
 * results. */
struct cp_task {
    int first_chunk;
    int n_chunks;
    int position;
    int begin;
    int end;
    int first_part;
};

/* Where the arrays are in the one of int: indices of their first elements, in this order. */
struct cp_schedule {
    int n_sequences;     /* b */
    int n_rows;          /* query rows */
    int n_tasks;         /* of which the first n_shared_tasks */
    int n_shared_tasks;  /* have two sequences or more */
    int n_parts;         /* rows of partial results, of h heads each */
    int most_rows;       /* query rows of the largest task */
    int chunks_per_task; /* at most so many */
    size_t task;         /* [n_tasks] struct cp_task */
    size_t chunk;        /* [all chunks of all tasks] chunk of the pool */
    size_t
        source_begin;   /* [b + 1] sequence s has source[source_begin[s] .. source_begin[s + 1]): */
    size_t source;      /* the partial result of its first query row, for each task on its path */
    size_t query_begin; /* [b + 1] query rows of each sequence, PREFILL-1 */
    size_t sequence;    /* [n_rows] of each query row */
    size_t n_tokens;    /* [b] */
    size_t n_numbers;   /* of all arrays together */
};

/* How large the arrays are for this plan, a valid one, these query ranges (NULL: one query each) and tasks of at
 * most chunks_per_task >= 1 chunks. Linear in the plan and in the pairs (task, sequence).
 *   CP_ERROR_ARGUMENT  a pointer is NULL, chunks_per_task is below 1
 *   CP_ERROR_SHAPE     query_begin does not begin at 0 or decreases; more than INT_MAX partial results */
int cp_schedule_measure(struct cp_schedule *schedule, const struct cp_plan *plan,
                        const int *query_begin, int chunks_per_task);

/* Writes the arrays: numbers[0 .. n_numbers). The plan and the query ranges are those that were measured. */
void cp_schedule_write(const struct cp_schedule *schedule, const struct cp_plan *plan,
                       const int *query_begin, int *numbers);

/* Writes n_tokens alone: numbers[n_tokens .. n_tokens + b). The plan's paths are those that were measured. */
void cp_schedule_write_lengths(const struct cp_schedule *schedule, const struct cp_plan *plan,
                               int *numbers);

#ifdef __cplusplus
}
#endif

#endif
