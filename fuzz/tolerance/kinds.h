/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels to look at one by one: each differs from the first by one part of its class, or is like a
 * kernel that is in use. */
#ifndef CHUNKPROOF_FUZZ_KINDS_H
#define CHUNKPROOF_FUZZ_KINDS_H

#include "fuzz/tolerance/emulate.h"

#define N_KINDS 19

const char *kind_name(int kind);

/* Chunks of 64 keys; the output is in binary32 but for the last kinds, which are whole kernels. */
struct options kind_options(int kind);

#endif
