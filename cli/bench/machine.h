/* SPDX-License-Identifier: Apache-2.0 */
/* The machine on which the benchmark runs. */
#ifndef CHUNKPROOF_CLI_BENCH_MACHINE_H
#define CHUNKPROOF_CLI_BENCH_MACHINE_H

#define MACHINE_TEXT 128

struct bench_machine {
    char processor[MACHINE_TEXT]; /* "" when the system does not say */
    char system[MACHINE_TEXT];    /* its kernel and architecture */
    char compiler[MACHINE_TEXT];
    int processors;     /* online */
    double cache[3];    /* bytes of L1d of one, L2 of one, L3; 0 when the system does not say */
    double memory;      /* bytes */
    double free_memory; /* bytes that the system reports as available */
};

void bench_machine_read(struct bench_machine *machine);

#endif
