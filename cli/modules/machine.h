/* SPDX-License-Identifier: Apache-2.0 */
/* How long a machine takes for a prompt's first token (CACHE-4). */
#ifndef CHUNKPROOF_CLI_MODULES_MACHINE_H
#define CHUNKPROOF_CLI_MODULES_MACHINE_H

#include <stdio.h>

#include "cli/tables/model.h"

struct modules_machine {
    double fixed_us;              /* of each prompt */
    double flops_per_second;      /* that it computes with */
    double bytes_per_second;      /* at which weights, keys and values are read */
    double copy_bytes_per_second; /* from the CPU's memory to the GPU's */
    double join_bytes_per_second; /* at which cached states are copied together; 0: they are not */
};

/* What is done for a prompt. */
struct modules_work {
    long long tokens;   /* that it has */
    long long computed; /* of these */
    long long pairs;    /* of a computed token and one that it sees */
    long long copied;   /* tokens whose keys and values come from the CPU's memory */
    long long cached;   /* tokens whose keys and values are there, and are to be joined */
};

/* Where the time of a prompt goes, in seconds. */
struct modules_time {
    double linear;    /* FLOPs of the weights */
    double attention; /* FLOPs of the pairs */
    double reading;   /* weights, keys and values; hidden behind the FLOPs, or they behind it */
    double copying;
    double joining;
    long long ns; /* all of it, at least 1 */
};

/* The preset of this name, or NULL; number i, or NULL behind the last. */
const struct modules_machine *modules_machine_find(const char *name);
const char *modules_machine_name(int i);

/* Reads spec/simulate-machine.schema.json. Returns 0, or -1 after a message. */
int modules_machine_load(struct modules_machine *machine, const char *file);

/* Prints it as such a file. */
void modules_machine_print(const struct modules_machine *machine, FILE *out);

/* `model` has its parameters. */
struct modules_time modules_machine_time(const struct modules_machine *machine,
                                         const struct cp_dims *model,
                                         const struct modules_work *work);

#endif
