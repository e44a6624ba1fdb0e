/* SPDX-License-Identifier: Apache-2.0 */
/* The usual mistakes of kernels that merge: which of them give the numbers of the wrong rows? */
#ifndef CHUNKPROOF_GATE_MERGE_MISTAKES_H
#define CHUNKPROOF_GATE_MERGE_MISTAKES_H

#include "gate/merge/judge.h"

/* How many mistakes are known, at most 63, and what each is, in words. */
int merge_mistakes(void);
const char *merge_mistake_words(int i);

/* Sets the finding's bits of mistakes: each that gives all numbers of all rows and heads that the
 * finding has. */
void merge_find_mistakes(const struct merge_arrays *arrays, struct merge_finding *finding);

#endif
