/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine can do, with so many threads: how fast it reads memory, how fast it multiplies and adds. */
#ifndef CHUNKPROOF_CLI_BENCH_LIMITS_H
#define CHUNKPROOF_CLI_BENCH_LIMITS_H

#include <stddef.h>

struct bench_limits;

struct bench_probe {
    double rate;     /* bytes, or floating-point operations, per second, */
    double cpu_rate; /* and per second that a processor worked */
    double
        share; /* of the threads' time, that processors worked for them: below 1 others were at work, too */
};

/* Memory of `bytes` is for reading, more than the caches hold. `version` of opt/, CP_OPT_PORTABLE .., says which
 * vectors there are. The fastest of several ways of reading is found out. On 0 *limits is the caller's, to be given to
 * bench_limits_free(); -1: no memory or no thread. */
int bench_limits_new(struct bench_limits **limits, int n_threads, int version, size_t bytes);
void bench_limits_free(struct bench_limits *limits);

/* Reads all of that memory once: nothing else is left in caches that it is larger than. */
int bench_limits_read(struct bench_limits *limits, struct bench_probe *probe);

/* Multiplies and adds in registers, for some milliseconds: binary32, or with AMX binary16, in parts. */
int bench_limits_multiply(struct bench_limits *limits, struct bench_probe *probe);

/* In words: "4 streams, 1024 bytes ahead". */
const char *bench_limits_way(const struct bench_limits *limits);

/* Large memory for K, V and what is read: in large pages, where the system has them for who asks. NULL: none. */
void *bench_memory_new(size_t bytes);
void bench_memory_free(void *address, size_t bytes);

/* Bytes that are more than its caches hold. */
size_t bench_limits_bytes(void);

#endif
