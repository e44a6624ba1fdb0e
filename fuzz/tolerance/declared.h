/* SPDX-License-Identifier: Apache-2.0 */
/* What the author of an emulated kernel would declare to the gate, in <chunkproof/kernel.h>. */
#ifndef CHUNKPROOF_FUZZ_DECLARED_H
#define CHUNKPROOF_FUZZ_DECLARED_H

#include "chunkproof/kernel.h"
#include "fuzz/tolerance/judge.h"

/* The declaration, and the chunk size of a case in which such a kernel does the same: one of its
 * steps or more. Returns 0 where kernel.h has no word for what the kernel does. */
int declared_kernel(const struct options *options, int *chunk_size, struct cp_kernel *kernel);

/* Judges a result of judge() again, by what the gate derives from that declaration (GATE-2).
 * Returns 0, and writes nothing to *judgement, where there is no declaration. */
int judge_as_the_gate(const struct options *options, const struct problem *problem,
                      const struct judgement *result, struct judgement *judgement);

#endif
