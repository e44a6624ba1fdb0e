/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a search: which kernel, which cases, how long, and which reports. */
#ifndef CHUNKPROOF_GATE_SEARCH_OPTIONS_H
#define CHUNKPROOF_GATE_SEARCH_OPTIONS_H

#include "gate/case/recipe.h"
#include "gate/source/compile.h"

enum gate_tier { GATE_QUICK, GATE_FULL, GATE_DEEP, GATE_TIERS };

#define GATE_MEMORY 0x1p32 /* bytes, when nothing else is said */

struct gate_options {
    const char *kernel, *json, *junit, *html, *save; /* files, and a directory */
    char *const *replay;                             /* of `chunkproof replay`: files of cases, */
    int n_replay;                                    /* so many */
    enum gate_tier tier;
    enum gate_place place;
    unsigned long long seed;
    long long cases; /* 0: the tier's */
    long long only;  /* this case alone; -1: all */
    double seconds;  /* for one call; 0: as usual */
    double time;     /* for all; 0: as long as it takes */
    double memory;   /* bytes for the cases that run side by side */
    struct gate_shape shape;
    int jobs;            /* kernels that are checked side by side */
    const char *state;   /* a file that keeps how far it came; NULL: none */
    int first;           /* stop at the first finding */
    int rules;           /* judge by the rules of others as well, and report each case */
    int explain;         /* of replay: what wrong results are the results of */
    const char *command; /* its name */
    int help;
};

extern const char *const gate_tier_names[GATE_TIERS + 1]; /* NULL behind the last */

/* How many cases the options ask for. */
long long gate_cases(const struct gate_options *options);

#endif
