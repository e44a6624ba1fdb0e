/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts, one batch after the other, over a cache of modules (CACHE-3 to CACHE-5). */
#ifndef CHUNKPROOF_CLI_MODULES_RUN_H
#define CHUNKPROOF_CLI_MODULES_RUN_H

#include <stdio.h>

#include "cli/modules/cache.h"
#include "cli/modules/items.h"
#include "cli/modules/load.h"
#include "cli/modules/machine.h"

struct modules_settings {
    int prompts, batch, new;
    long long capacity[MODULES_TIERS]; /* tokens */
    struct modules_machine machine;
    struct cp_dims model;
    FILE *events; /* NULL: nobody asks for them */
};

/* Items and their tokens, by where they were: GPU, CPU, nowhere. */
struct modules_counts {
    long long items, tokens;
};

/* Tokens whose keys and values the prompts of a batch have: all together, and the most of one
 * batch. */
struct modules_memory {
    long long sum, most;
};

struct modules_run {
    int prompts, batches; /* done; fewer when it was interrupted */
    int is_broken;        /* modules_cache_check() failed: a finding */
    struct modules_counts from[MODULES_TIERS + 1];
    struct modules_counts unkept;  /* encoded, and kept in no tier */
    long long left[MODULES_TIERS]; /* items that left a tier */
    long long peak[MODULES_TIERS]; /* tokens */
    long long to_host;             /* tokens */
    long long arguments;           /* tokens */
    long long dropped;             /* draws */
    struct modules_memory own, shared;
    struct modules_time cached, full; /* sums, without ns */
    long long *cached_ns, *full_ns;   /* [prompts] */
};

/* Simulates. The caller frees the run. Ends early, behind a batch, when `interrupted` is set. */
void modules_simulate(struct modules_run *run, const struct modules_settings *settings,
                      const struct modules_items *items, struct modules_drawing *drawing);
void modules_run_free(struct modules_run *run);

#endif
