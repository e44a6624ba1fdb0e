/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of K and V that lie billions of bytes apart for the kernel, and close together in the
 * arena: each is mapped a second time, and nothing lies between them. It costs addresses, no
 * memory, and shows who keeps an offset in 32 bits. */
#ifndef CHUNKPROOF_GATE_RUNNER_FAR_H
#define CHUNKPROOF_GATE_RUNNER_FAR_H

#include "gate/runner/shared.h"

/* Maps K and V of the call that is asked as it says, and puts their pointers and strides into
 * control->call. The arena is open. 0, or -1: there are not so many addresses. */
int run_far_enter(struct run_control *control, unsigned char *arena);

/* Undoes it, also when there was nothing to be done. */
void run_far_leave(struct run_control *control);

/* Is it an address between such chunks, or near them? Writes which buffer, and how far behind its
 * begin; inside of a chunk that is its place in the arena's buffer, and *inside is 1. For a signal
 * handler. */
int run_far_locate(const struct run_control *control, unsigned long long address,
                   struct run_spot *spot, int *inside);

#endif
