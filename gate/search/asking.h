/* SPDX-License-Identifier: Apache-2.0 */
/* How long a kernel is asked for sizes that it takes. */
#ifndef CHUNKPROOF_GATE_SEARCH_ASKING_H
#define CHUNKPROOF_GATE_SEARCH_ASKING_H

#include "gate/runner/runner.h"

struct gate_until {
    const volatile int *stop; /* not 0: the kernel is asked for no more sizes; NULL: never */
    double deadline;          /* the same from that time on; 0: never */
};

/* --time, of a search that began then. */
double gate_deadline(double began, double time);

int gate_is_over(const struct gate_until *until);

/* All attempts of a case have the time of one call. Says so when it is used up; else NULL. */
const char *gate_took_too_long(const struct runner *runner, double began);

#endif
