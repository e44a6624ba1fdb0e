/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_GATE_MERGE_VALUES_H
#define CHUNKPROOF_GATE_MERGE_VALUES_H

#include "gate/merge/problem.h"

/* Writes all o and l of a problem, from the seed of its recipe. */
void merge_values_fill(struct merge_problem *problem);

/* What is in the outputs of a part without keys: d numbers of o_type, by what the kernel takes. */
void merge_garbage(const struct cp_merge_kernel *kernel, unsigned long long seed, int d, double *o);

#endif
