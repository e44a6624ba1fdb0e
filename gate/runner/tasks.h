/* SPDX-License-Identifier: Apache-2.0 */
/* How many processes and threads there are: in the system, and of one kernel. */
#ifndef CHUNKPROOF_GATE_RUNNER_TASKS_H
#define CHUNKPROOF_GATE_RUNNER_TASKS_H

#include <sys/types.h>

/* Of the whole system; 0: it does not tell. */
unsigned long run_tasks(void);

/* Of a process and its group, of those whose parent has ended, which this process has adopted
 * (children.h), and of all that they started. Zombies count. 0: the system does not tell. */
unsigned long run_tasks_of(pid_t process);

#endif
