/* SPDX-License-Identifier: Apache-2.0 */
/* What a search is asked for: which kernel, which cases, how long, and which reports. */
#ifndef CHUNKPROOF_GATE_SEARCH_OPTIONS_H
#define CHUNKPROOF_GATE_SEARCH_OPTIONS_H

#include "gate/case/recipe.h"
#include "gate/source/compile.h"

enum gate_tier { GATE_QUICK, GATE_FULL, GATE_DEEP, GATE_TIERS };

#define GATE_MEMORY 0x1p32 /* bytes, without --memory */

struct gate_options {
    const char *kernel, *json, *junit, *html, *save; /* files, and a directory */
    char *const *replay;                             /* for `chunkproof replay`: files of cases */
    int n_replay;
    enum gate_tier tier;
    enum gate_place place;
    unsigned long long seed;
    long long cases; /* 0: the tier's */
    long long only;  /* the only case to run; -1: all */
    double seconds;  /* limit for one call; 0: 10 s, and 100 s on the executor */
    double compile;  /* limit for a compiler */
    double time;     /* limit for all cases, or for explaining each; 0: none */
    double memory;   /* bytes for all cases that run in parallel */
    struct gate_shape shape;
    int jobs;            /* how many processes run the kernel in parallel */
    const char *state;   /* a file that keeps how far the search came; NULL: none */
    int sandbox;         /* 1: no kernel runs outside of a box (gate/runner/box.h) */
    int first;           /* 1: stop at the first finding */
    int rules;           /* 1: also judge by other projects' rules, and report each case */
    int explain;         /* 1: `chunkproof explain`, which replays cases and explains them */
    const char *command; /* the command's name, for messages */
    int help;
};

extern const char *const gate_tier_names[GATE_TIERS + 1]; /* ends with NULL */

/* How many cases the options ask for. */
long long gate_cases(const struct gate_options *options);

#endif
