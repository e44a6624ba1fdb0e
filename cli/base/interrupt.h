/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_INTERRUPT_H
#define CHUNKPROOF_CLI_BASE_INTERRUPT_H

#include <signal.h>

/* 1 from the first Ctrl-C after catch_interrupt() on. Only commands have this variable; the
 * libraries do not. */
extern volatile sig_atomic_t interrupted;

/* From now on the first Ctrl-C sets `interrupted`, so that the command stops and prints its report.
 * The second Ctrl-C ends the process. */
void catch_interrupt(void);

/* The same for SIGTERM and SIGHUP, for a command that would otherwise leave files behind. SIGPIPE
 * no longer ends it. */
void catch_termination(void);

#endif
