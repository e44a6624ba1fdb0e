/* SPDX-License-Identifier: Apache-2.0 */
/* The same work by several threads at once, timed. */
#ifndef CHUNKPROOF_CLI_BENCH_THREADS_H
#define CHUNKPROOF_CLI_BENCH_THREADS_H

struct bench_time {
    double wall; /* seconds, from the start of the first thread to the end of the last */
    double cpu;  /* processor time of all threads together, in seconds */
};

typedef void bench_work(void *context, int number);

/* Runs work(context, 0 .. n-1), each in a thread. Returns 0, or -1: out of threads. */
int bench_threads_run(int n, bench_work *work, void *context, struct bench_time *time);

#endif
