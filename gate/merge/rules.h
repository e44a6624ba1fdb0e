/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_GATE_MERGE_RULES_H
#define CHUNKPROOF_GATE_MERGE_RULES_H

#include "gate/judge/rules.h"
#include "gate/merge/arrays.h"

/* Shows results to the rules of others: the outputs of all rows and heads that have one right
 * answer, and a bound. Returns how many these are, or -1: no memory. */
int merge_show(const struct merge_arrays *arrays, struct gate_tensor *tensor);

#endif
