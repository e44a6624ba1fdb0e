/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine can do with a number of threads: how fast it reads memory, and how fast it
 * multiplies and adds. */
#ifndef CHUNKPROOF_CLI_BENCH_LIMITS_H
#define CHUNKPROOF_CLI_BENCH_LIMITS_H

#include <stddef.h>

struct bench_limits;

struct bench_probe {
    double rate;     /* bytes, or floating-point operations, per second */
    double cpu_rate; /* the same per second of processor time */
    double
        share; /* the share of time for which the threads had a processor: 1 on an idle machine */
};

/* `bytes`: how much memory is read; more than the caches hold. `version` of opt/, CP_OPT_PORTABLE
 * .., selects the vectors. The fastest of several ways to read is determined. Returns 0, and the
 * caller gives *limits to bench_limits_free(); or -1: out of memory or threads. */
int bench_limits_new(struct bench_limits **limits, int n_threads, int version, size_t bytes);
void bench_limits_free(struct bench_limits *limits);

/* Reads all of that memory once. Afterwards the caches hold nothing else. */
int bench_limits_read(struct bench_limits *limits, struct bench_probe *probe);

/* Multiplies and adds in registers for some milliseconds: in binary32; with AMX, in binary16 cut
 * into parts of bfloat16. */
int bench_limits_multiply(struct bench_limits *limits, struct bench_probe *probe);

/* The way to read, in words: "4 streams, prefetched 1024 bytes ahead". */
const char *bench_limits_way(const struct bench_limits *limits);

/* Memory for K, V and the reading probe, in large pages where the system offers them. NULL: out of
 * memory. */
void *bench_memory_new(size_t bytes);
void bench_memory_free(void *address, size_t bytes);

/* A number of bytes that the machine's caches cannot hold. */
size_t bench_limits_bytes(void);

#endif
