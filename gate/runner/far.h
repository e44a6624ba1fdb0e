/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of K and V that lie billions of bytes apart for the kernel, or that are few of a large
 * pool. In the arena they lie close together; far.c maps each a second time. Between chunks that
 * are far apart it maps nothing, and for the other chunks of a pool pages of zeros. This costs
 * addresses, not memory. It exposes a kernel that keeps an offset in 32 bits, or a chunk's number
 * in 16. */
#ifndef CHUNKPROOF_GATE_RUNNER_FAR_H
#define CHUNKPROOF_GATE_RUNNER_FAR_H

#include "gate/runner/shared.h"

/* Maps K and V of the requested call, and puts their pointers and strides into control->call. The
 * arena must be open. 0, or -1: there are not so many addresses. */
int run_far_enter(struct run_control *control, unsigned char *arena);

/* Undoes run_far_enter(); also right when there is nothing to undo. */
void run_far_leave(struct run_control *control);

/* Is the address in, between or near such chunks? Writes the buffer, and the distance from its
 * begin. Inside a chunk *inside is 1; then the distance is the place in the arena's buffer, unless
 * the chunk is one of a pool. A signal handler may call this function. */
int run_far_locate(const struct run_control *control, unsigned long long address,
                   struct run_spot *spot, int *inside);

#endif
