/* SPDX-License-Identifier: Apache-2.0 */
/* In the kernel's process: its functions, of a kernel that computes attention or merges, with the
 * call that is asked for. */
#ifndef CHUNKPROOF_GATE_RUNNER_ASKED_H
#define CHUNKPROOF_GATE_RUNNER_ASKED_H

#include "gate/runner/shared.h"

int run_memory(const struct run_control *control);          /* CP_HOST_MEMORY, ... */
const char *run_refuses(const struct run_control *control); /* NULL: the call is taken */
size_t run_workspace(const struct run_control *control);    /* 0 where it has no such function */
int run_call_kernel(const struct run_control *control);     /* what attend(), merge() returns */

#endif
