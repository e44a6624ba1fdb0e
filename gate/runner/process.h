/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's process, from outside: start it, ask it, wait for it with a deadline, end it.
 * Whatever that process does, none of these functions hangs or ends the calling process. */
#ifndef CHUNKPROOF_GATE_RUNNER_PROCESS_H
#define CHUNKPROOF_GATE_RUNNER_PROCESS_H

#include "gate/runner/output.h"
#include "gate/runner/shared.h"

struct run_process {
    pid_t pid; /* 0: no process runs */
    int socket;
    int status; /* of waitpid(), once it has ended */
    struct run_output output;
    unsigned long tasks; /* of the system, without the kernel's; 0: it does not tell */

    /* The memory, with what the process left in it, stays until the next process starts. */
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
    RUN_TOO_LARGE, /* it uses more memory than it may */
    RUN_CROWDED,   /* it has more processes and threads than it may */
    RUN_DISTURBED  /* the socket delivered bytes that the process did not send */
};

void run_process_init(struct run_process *process);

/* Starts `program --run-kernel FILE`, with new memory, in a box or not. 0, or -1 after
 * writing what is wrong. The process answers once the kernel is loaded, or cannot be. */
int run_process_start(struct run_process *process, const char *program, char *file,
                      const struct run_limits *limits, int box, char text[RUN_TEXT]);

/* The number of the kernel's own process. */
pid_t run_process_worker(const struct run_process *process);

/* Takes the pages that the layout needs from the system; otherwise writing to them could end this
 * process. 0, or -1: the system has no memory left. */
int run_process_reserve(struct run_process *process, const struct run_layout *layout);

/* Did bytes come from the socket although nothing was asked, or did the process end? */
int run_process_disturbed(struct run_process *process);

/* Sends the request that `control` holds. Whether the process has ended shows only when waiting for
 * its answer. */
void run_process_ask(struct run_process *process);

/* Waits for the answer. RUN_NOT_IN_TIME: the process has used so many seconds of processor time, or
 * waits for something other than a processor. */
enum run_answer run_process_await(struct run_process *process, double seconds);

/* Ends the process and all that it started. `status` is that of its own end if it had ended. */
void run_process_end(struct run_process *process);

/* Ends the process if one runs, and frees the memory. */
void run_process_free(struct run_process *process);

#endif
