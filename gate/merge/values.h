/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_GATE_MERGE_VALUES_H
#define CHUNKPROOF_GATE_MERGE_VALUES_H

#include "gate/merge/problem.h"

/* Writes all o and l of a problem, from the seed of its recipe. */
void merge_values_fill(struct merge_problem *problem);

#endif
