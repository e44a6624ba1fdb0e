/* SPDX-License-Identifier: Apache-2.0 */
/* How long each tier of `chunkproof gate` takes. Each tier is a process. */
#ifndef CHUNKPROOF_CLI_BENCH_TIERS_H
#define CHUNKPROOF_CLI_BENCH_TIERS_H

#include <signal.h>

#include "gate/search/options.h"

struct tier {
    int measured;
    long long cases, all; /* cases run in that time; cases of the tier */
    double seconds;
    double rate;  /* cases per second */
    double whole; /* seconds for the whole tier: measured, or estimated from the rate */
};

/* Runs each tier for `seconds` at most; a case that has begun is finished. smoke: only some cases
 * of the first tier. Returns EXIT_RIGHT; or EXIT_BAD_USE or EXIT_FINDING after a message. */
int tiers_measure(const char *kernel, double seconds, int smoke,
                  const volatile sig_atomic_t *interrupted, struct tier tier[GATE_TIERS]);

/* Reads a JSON report of the gate. Returns 0, or -1 when the file is not such a report. */
int tier_read(const char *file, long long all, struct tier *tier);

#endif
