/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_GATE_MERGE_GARBAGE_H
#define CHUNKPROOF_GATE_MERGE_GARBAGE_H

#include "chunkproof/merge_kernel.h"
#include "cli/base/random.h"

/* From -1 to 1, not 1. */
double merge_uniform(struct prng *random);

/* What is in the outputs of a part without keys: d numbers of o_type, by what the kernel takes. */
void merge_garbage(const struct cp_merge_kernel *kernel, unsigned long long seed, int type, int d,
                   double *o);

#endif
