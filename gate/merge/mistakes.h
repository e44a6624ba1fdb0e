/* SPDX-License-Identifier: Apache-2.0 */
/* The usual mistakes of kernels that merge: which of them gives the numbers of a wrong row? */
#ifndef CHUNKPROOF_GATE_MERGE_MISTAKES_H
#define CHUNKPROOF_GATE_MERGE_MISTAKES_H

#include "gate/merge/judge.h"

/* Writes a hint for the finding's row and head, if one mistake gives all of its numbers. */
void merge_find_mistake(const struct merge_arrays *arrays, struct merge_finding *finding);

#endif
