/* SPDX-License-Identifier: Apache-2.0 */
/* A problem as a kernel gets it: arrays with strides, padding that must not matter, and results
 * that are not written yet. */
#ifndef CHUNKPROOF_GATE_CASE_LAYOUT_H
#define CHUNKPROOF_GATE_CASE_LAYOUT_H

#include <stddef.h>

#include "gate/case/problem.h"
#include "gate/runner/runner.h"

/* The same as a kernel gets it. All arrays are this's own. */
struct gate_arrays {
    struct run_call run;
    unsigned char *memory[RUN_BUFFERS];
};

/* The call without its arrays: sizes, and strides as a kernel gets them. In a struct gate_arrays
 * chunks are never far apart, and strides are those of its own memory. */
void gate_call_sizes(struct cp_kernel_call *call, const struct gate_problem *problem);

/* Bytes that a case takes, about, with a workspace of that size: here, and where the kernel is. */
double gate_case_bytes(const struct gate_problem *problem, size_t workspace);

/* 0, or -1: no memory. */
int gate_arrays_new(struct gate_arrays *arrays, const struct gate_problem *problem);
void gate_arrays_free(struct gate_arrays *arrays);

/* The same inputs, with results of its own: `one` lives longer. 0, or -1: no memory. */
int gate_arrays_again(struct gate_arrays *again, const struct gate_arrays *one);
void gate_arrays_free_again(struct gate_arrays *again);

/* Number i of a row and head of the results. */
double gate_out_at(const struct gate_arrays *arrays, const struct gate_problem *problem, int row,
                   int head, int i);
double gate_lse_at(const struct gate_arrays *arrays, const struct gate_problem *problem, int row,
                   int head);

#endif
