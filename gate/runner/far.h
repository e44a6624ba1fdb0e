/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of K and V that lie billions of bytes apart for the kernel. In the arena they lie close
 * together; far.c maps each a second time, and maps nothing between them. This costs addresses, not
 * memory. It exposes a kernel that keeps an offset in 32 bits. */
#ifndef CHUNKPROOF_GATE_RUNNER_FAR_H
#define CHUNKPROOF_GATE_RUNNER_FAR_H

#include "gate/runner/shared.h"

/* Maps K and V of the requested call, and puts their pointers and strides into control->call. The
 * arena must be open. 0, or -1: there are not so many addresses. */
int run_far_enter(struct run_control *control, unsigned char *arena);

/* Undoes run_far_enter(); also right when there is nothing to undo. */
void run_far_leave(struct run_control *control);

/* Is the address in, between or near such chunks? Writes the buffer, and the distance from its
 * begin. Inside a chunk the distance is the place in the arena's buffer, and *inside is 1. A signal
 * handler may call this function. */
int run_far_locate(const struct run_control *control, unsigned long long address,
                   struct run_spot *spot, int *inside);

#endif
