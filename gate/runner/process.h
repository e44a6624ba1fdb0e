/* SPDX-License-Identifier: Apache-2.0 */
/* The other process, from outside: to start it, to ask it, to wait for it with a deadline, to end
 * it. Whatever it does, none of these hangs, and none ends this process. */
#ifndef CHUNKPROOF_GATE_RUNNER_PROCESS_H
#define CHUNKPROOF_GATE_RUNNER_PROCESS_H

#include "gate/runner/shared.h"

struct run_process {
    pid_t pid; /* 0: none runs */
    int socket;
    int status; /* of waitpid(), once it has ended */

    /* The memory stays, with what the process left in it, until the next one is started. */
    int memory;
    unsigned char *mapped; /* NULL: none */
    size_t size;
    struct run_control *control;
    unsigned char *arena;
};

enum run_answer {
    RUN_ANSWERED,
    RUN_ENDED, /* it ended before it answered */
    RUN_NOT_IN_TIME,
    RUN_DISTURBED /* there came from the socket what it did not send */
};

void run_process_init(struct run_process *process);

/* Starts `program --run-kernel FILE`, with new memory. Returns 0, or -1 after writing what is
 * wrong. It answers once the kernel is loaded or cannot be. */
int run_process_start(struct run_process *process, const char *program, char *file,
                      const struct run_limits *limits, char text[RUN_TEXT]);

/* Takes the pages that the layout needs from the system: without, writing to them could end this
 * process. Returns 0, or -1: it has no memory left. */
int run_process_reserve(struct run_process *process, const struct run_layout *layout);

/* Has anything come from the socket although nothing was asked? Did it end? */
int run_process_disturbed(struct run_process *process);

/* Sends the request that control says. That the process has ended is found by waiting for its
 * answer. */
void run_process_ask(struct run_process *process);

/* Not in time: when it has worked for so long, or waits for something else than a processor. */
enum run_answer run_process_await(struct run_process *process, double seconds);

/* Ends it with all that it started itself; status is that of its own end if it had ended. */
void run_process_end(struct run_process *process);

/* Ends it if need be, and gives the memory back. */
void run_process_free(struct run_process *process);

#endif
