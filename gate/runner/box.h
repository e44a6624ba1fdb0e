/* SPDX-License-Identifier: Apache-2.0 */
/* A box for the kernel's process: namespaces of users, processes, mounts, networks and System V
 * memory, all of them or none. In the box there is no network, no process but the kernel's own and
 * what it starts, no shared memory but what is made there, and no file can be changed.
 *
 *     gate --- keeper --- first --- kernel's process --- what that starts
 *                        '-----------------------------------------------' the box
 *
 * The keeper is the process that the gate started, and waits. The first is process 1 of the box.
 * When it ends, the system ends all others in the box, whatever session or parent they have. It
 * ends with the kernel's process, and with the keeper, which ends with the gate. */
#ifndef CHUNKPROOF_GATE_RUNNER_BOX_H
#define CHUNKPROOF_GATE_RUNNER_BOX_H

#include "gate/runner/shared.h"

/* Is the box left out ($CHUNKPROOF_SANDBOX is "off")? */
int run_box_is_left_out(void);

/* To be called by a process with one thread, before it loads a kernel. Returns only in the kernel's
 * process: bits of enum run_contained. Where the system has no box, writes into the control what
 * failed, and ends the process. */
unsigned run_box_enter(struct run_control *control);

/* Why there is no box, and how to mend that. */
void run_box_explain(const struct run_control *control, char text[RUN_TEXT]);

#endif
