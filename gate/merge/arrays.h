/* SPDX-License-Identifier: Apache-2.0 */
/* A problem as a kernel gets it: arrays, strides, gaps. */
#ifndef CHUNKPROOF_GATE_MERGE_ARRAYS_H
#define CHUNKPROOF_GATE_MERGE_ARRAYS_H

#include "gate/merge/problem.h"
#include "gate/runner/runner.h"

struct merge_arrays {
    const struct merge_problem *problem;
    struct run_call run; /* its merge is `call` */
    struct cp_merge_call call;
    unsigned char *memory[RUN_BUFFERS]; /* NULL: not there */
};

/* The sizes of a problem's call: its pointers are NULL. */
void merge_call_sizes(struct cp_merge_call *call, const struct merge_problem *problem);

/* Bytes of all arrays. */
double merge_bytes(const struct merge_problem *problem, size_t workspace);

/* 0, or -1: no memory, and nothing to free. */
int merge_arrays_new(struct merge_arrays *arrays, const struct merge_problem *problem,
                     size_t workspace);
void merge_arrays_free(struct merge_arrays *arrays);

/* Writes what a call begins with: the parts, and poison in gaps and, but for a part in place, in
 * out and lse. */
void merge_arrays_fill(struct merge_arrays *arrays, unsigned char poison);

/* Of the results: the number of row, head and element; element -1 is the log-sum-exp. */
long long merge_result_at(const struct merge_arrays *arrays, int row, int head, int element);
double merge_result(const struct merge_arrays *arrays, int row, int head, int element);

/* Results that the kernel may choose (CP_EMPTY_UNSPECIFIED) become 0. */
void merge_arrays_blank(struct merge_arrays *arrays);

#endif
