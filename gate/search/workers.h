/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that run cases, each with a process of the kernel, and the line that shows how far they
 * are. */
#ifndef CHUNKPROOF_GATE_SEARCH_WORKERS_H
#define CHUNKPROOF_GATE_SEARCH_WORKERS_H

struct runner;

/* Starts one more process with the kernel, in the thread that uses it. NULL after a message. */
typedef struct runner *gate_starter(void *context);

struct gate_workers {
    gate_starter *start;
    void *context; /* of start() */
    void (*work)(void *task, struct runner *runner);
    void (*failed)(void *task); /* a process did not start */
    void *task;
};

/* work() in `jobs` threads, this one among them, which has `runner`; the others' processes are
 * started and freed here. As many threads as there may be. 0, or -1: no memory, after a message. */
int gate_workers_run(const struct gate_workers *all, struct runner *runner, int jobs);

/* On a terminal, a line over the one before, a few times a second; `last` clears it. */
void gate_show_progress(double *next, int last, long long cases, long long asked, long long wrong);

#endif
