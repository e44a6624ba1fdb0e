/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_INTERRUPT_H
#define CHUNKPROOF_CLI_BASE_INTERRUPT_H

#include <signal.h>

/* 1 from the first Ctrl-C on, after catch_interrupt(). For the commands: no library has it. */
extern volatile sig_atomic_t interrupted;

/* From now on the first Ctrl-C ends what runs, whose report is printed then, and a second one ends the process. */
void catch_interrupt(void);

/* The same of SIGTERM, for a command that leaves files behind it otherwise. */
void catch_termination(void);

#endif
