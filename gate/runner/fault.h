/* SPDX-License-Identifier: Apache-2.0 */
/* In the kernel's process: write protection of the report, and a signal handler that writes into
 * the report which address was touched.
 *
 * The handler sees SIGSEGV and SIGBUS of every thread, also of threads that the kernel started. In
 * two cases the process dies of the signal without a record: the kernel put a handler of its own in
 * place, or a thread other than the one that calls attend() has no stack left. */
#ifndef CHUNKPROOF_GATE_RUNNER_FAULT_H
#define CHUNKPROOF_GATE_RUNNER_FAULT_H

#include "gate/runner/shared.h"

/* Between these two calls the struct may be written to. */
void run_control_open(struct run_control *control);
void run_control_close(struct run_control *control);

/* Called once, before a kernel is loaded: gets the stack of the handler. 0, or -1: no memory. */
int run_fault_init(struct run_control *control);

/* Called before each call of the kernel: puts the handler in place again, whatever the kernel did
 * to it before. */
void run_fault_arm(void);

#endif
