/* SPDX-License-Identifier: Apache-2.0 */
/* A problem as a kernel gets it: arrays with strides, padding that must not matter, and results
 * that are not written yet. */
#ifndef CHUNKPROOF_GATE_CASE_LAYOUT_H
#define CHUNKPROOF_GATE_CASE_LAYOUT_H

#include <stddef.h>

#include "gate/case/problem.h"
#include "gate/runner/runner.h"

/* A call for the runner, and the memory of its arrays, which this struct owns. */
struct gate_arrays {
    struct run_call run;
    unsigned char *memory[RUN_BUFFERS];
    size_t element;  /* bytes of a number of K */
    int tensors;     /* CP_TENSORS_... */
    int *far_number; /* of run, or NULL */
};

/* The call without its arrays: sizes, and the strides that a kernel gets. In a struct gate_arrays
 * chunks are never far apart, and the strides are those of its own memory. */
void gate_call_sizes(struct cp_kernel_call *call, const struct gate_problem *problem);

/* About how many bytes a case takes with a workspace of that size, here and in the kernel's
 * process. */
double gate_case_bytes(const struct gate_problem *problem, size_t workspace);

/* Makes the arrays of a problem. 0, or -1: no memory. */
int gate_arrays_new(struct gate_arrays *arrays, const struct gate_problem *problem);
void gate_arrays_free(struct gate_arrays *arrays);

/* Arrays with the inputs of `one`, which must live longer, and with results of their own. 0, or -1:
 * no memory. */
int gate_arrays_again(struct gate_arrays *again, const struct gate_arrays *one);
void gate_arrays_free_again(struct gate_arrays *again);

/* Number i of out for a row and head; below, its log-sum-exp. */
double gate_out_at(const struct gate_arrays *arrays, const struct gate_problem *problem, int row,
                   int head, int i);
double gate_lse_at(const struct gate_arrays *arrays, const struct gate_problem *problem, int row,
                   int head);

#endif
