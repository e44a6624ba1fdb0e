/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a problem, whatever plan they have: room for them, numbers for its chunks, and how
 * many query rows each sequence has. */
#ifndef CHUNKPROOF_GATE_CASE_LISTS_H
#define CHUNKPROOF_GATE_CASE_LISTS_H

#include <stddef.h>

#include "gate/case/problem.h"

/* Zeros. At least one byte, so that NULL always means out of memory. */
void *gate_allocate(size_t n, size_t size);

/* Room for b sequences of at most `runs` runs, for the lists of descriptors and for these. All
 * entries are 0, those of the table -1. The rows have none yet. 0, or -1: no memory. */
int gate_lists_new(struct gate_problem *problem, int b, int runs, int n_served, int n_shared);

#define GATE_SPARE 3 /* chunks, or pages, of the pool that nobody uses */

/* The numbers below n in any order, which the caller frees. NULL: no memory. */
int *gate_permutation(unsigned long long seed, int n);

/* Gives n chunks random numbers below the capacity, which it sets: sequences are scattered over the
 * pool, as in a pool that has been in use for long. The caller frees the n numbers. NULL: no
 * memory. */
int *gate_scatter(struct gate_problem *problem, int n);

/* How many query rows each sequence has, whose n_tokens are known, and room for their positions.
 * 0, or -1: no memory. */
int gate_rows_new(struct gate_problem *problem);

#endif
