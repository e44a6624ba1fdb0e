/* SPDX-License-Identifier: Apache-2.0 */
/* Other declarations of a kernel that merges: with which of them would its results be right? */
#ifndef CHUNKPROOF_GATE_MERGE_DECLARED_H
#define CHUNKPROOF_GATE_MERGE_DECLARED_H

#include <stdio.h>

#include "gate/merge/arrays.h"

/* How many there are, at most 64. */
int merge_declarations(void);

/* Takes those out of `left` (bits) that are what the kernel declares, or narrower, or with which
 * the results are wrong, or hardly judged. 0, or -1: no memory. */
int merge_try_declarations(const struct merge_arrays *arrays, unsigned long long *left);

/* Prints those that are left: of each member the narrowest alone. Returns how many. */
int merge_say_declarations(FILE *out, unsigned long long left);

#endif
