/* SPDX-License-Identifier: Apache-2.0 */
/* In the other process: who may write to the report, and a signal handler that writes there which
 * address was touched.
 *
 * Seen are SIGSEGV and SIGBUS of any thread while the handler is the kernel's, too. Without a
 * record the process dies of the signal itself: in a thread (not the one that calls attend()) that
 * has no stack left, or when the kernel put a handler of its own in place. */
#ifndef CHUNKPROOF_GATE_RUNNER_FAULT_H
#define CHUNKPROOF_GATE_RUNNER_FAULT_H

#include "gate/runner/shared.h"

/* Between these two the struct may be written to. */
void run_control_open(struct run_control *control);
void run_control_close(struct run_control *control);

/* Once, before a kernel is loaded: gets the stack of the handler. Returns 0, or -1: no memory. */
int run_fault_init(struct run_control *control);

/* Before each call: puts the handler in place, whatever the kernel did about it before. */
void run_fault_arm(void);

#endif
