/* SPDX-License-Identifier: Apache-2.0 */
/* An emulated kernel as the gate would have it: what its author declares in
 * <chunkproof/kernel.h>. */
#ifndef CHUNKPROOF_FUZZ_DECLARED_H
#define CHUNKPROOF_FUZZ_DECLARED_H

#include "chunkproof/kernel.h"
#include "fuzz/tolerance/judge.h"

/* The declaration, and the chunks of a case in which such a kernel does the same: of one of its
 * steps or more. Returns 0 where kernel.h has no word for what it does. */
int declared_kernel(const struct options *options, int *chunk_size, struct cp_kernel *kernel);

/* A result that judge() has made, judged once more, by what the gate makes of that declaration
 * (GATE-2). Returns 0, and nothing in *judgement, where there is none. */
int judge_as_the_gate(const struct options *options, const struct problem *problem,
                      const struct judgement *result, struct judgement *judgement);

#endif
