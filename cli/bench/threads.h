/* SPDX-License-Identifier: Apache-2.0 */
/* The same work by several threads at once, timed. */
#ifndef CHUNKPROOF_CLI_BENCH_THREADS_H
#define CHUNKPROOF_CLI_BENCH_THREADS_H

struct bench_time {
    double wall; /* seconds: of threads, from the first one's begin to the last one's end */
    double cpu;  /* that processors worked for it, all threads together */
};

typedef void bench_work(void *context, int number);

/* Runs work(context, 0 .. n-1), each in a thread. Returns 0, or -1 when the system gives no
 * thread. */
int bench_threads_run(int n, bench_work *work, void *context, struct bench_time *time);

#endif
