/* SPDX-License-Identifier: Apache-2.0 */
/* How long `chunkproof gate` takes: each tier, a process. */
#ifndef CHUNKPROOF_CLI_BENCH_TIERS_H
#define CHUNKPROOF_CLI_BENCH_TIERS_H

#include <signal.h>

#include "gate/search/options.h"

struct tier {
    int measured;
    long long cases, all; /* that were run in that time; that the tier has */
    double seconds;
    double rate;  /* cases per second */
    double whole; /* seconds of the tier: measured when all were run, else so many at this rate */
};

/* Each tier, `seconds` at most and then what it had begun; smoke: some cases of the first. Returns EXIT_RIGHT, or
 * EXIT_BAD_USE or EXIT_FINDING after saying why. */
int tiers_measure(const char *kernel, double seconds, int smoke,
                  const volatile sig_atomic_t *interrupted, struct tier tier[GATE_TIERS]);

/* What a report of the gate, as JSON, says: 0, or -1 when it is none. */
int tier_read(const char *file, long long all, struct tier *tier);

#endif
