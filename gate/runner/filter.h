/* SPDX-License-Identifier: Apache-2.0 */
/* A filter for system calls of the kernel's process, so that nothing there hides a fault, or
 * memory. */
#ifndef CHUNKPROOF_GATE_RUNNER_FILTER_H
#define CHUNKPROOF_GATE_RUNNER_FILTER_H

/* To be called once the kernel is loaded and the handlers of SIGSEGV and SIGBUS are set: from
 * then on they stay. Who sets another one is told that it is done. Filters of the kernel's own
 * are refused. So is, on the host, memory that is in no process (memfd_create, shmget), of which
 * no limit counts what is not mapped; a driver of a GPU may ask for it. Returns RUN_NO_HANDLERS
 * (enum run_contained), or 0: the system has no filters. */
unsigned run_filter(int on_host);

#endif
