/* SPDX-License-Identifier: Apache-2.0 */
/* Random prompts of modules, as plans of runs (spec/runs.md). */
#ifndef CHUNKPROOF_TESTS_RUNS_CASE_H
#define CHUNKPROOF_TESTS_RUNS_CASE_H

#include "chunkproof/attention.h"

#define RUNS_SEQUENCES  8
#define RUNS_CAPACITY   256
#define RUNS_CHUNK_SIZE 5  /* tokens in a chunk, at most */
#define RUNS_POSITIONS  80 /* of a prompt; a value has a column for each */
#define RUNS_MODULES    4

struct text {
    int begin; /* position of the first token */
    int n_runs;
    struct cp_run run[8];
};

struct prompts {
    struct cp_plan *plan;
    unsigned long long random;
    int n_chunks;        /* of the pool, in use */
    int n_modules, size; /* positions of the schema */
    struct text module[RUNS_MODULES];
    int free_at[RUNS_MODULES]; /* a gap of three positions behind a module: a param */
    int imports[RUNS_SEQUENCES][RUNS_MODULES];
    int rows[RUNS_SEQUENCES + 1];
    int position[RUNS_SEQUENCES * 3];
    struct cp_window window; /* all zeros, unless the caller gives another one (WINDOW-1) */
    struct cp_mask mask;     /* likewise (MASK-1) */
};

/* Takes memory for the plan, for as many calls of prompts_make() as the caller wants. */
void prompts_new(struct prompts *p);
void prompts_free(struct prompts *p);

/* The same seed makes the same prompts. Of the plan it writes what is in use, the number of runs of
 * RUNS_SEQUENCES sequences, and not the stamp. */
void prompts_make(struct prompts *p, unsigned long long seed);

/* Gives each prompt one row, at any position. */
void prompts_decode(struct prompts *p);

/* K and V of all chunks, one head. Column j of the value of a token at position j is 1, and all
 * else of tokens is 0. What no token has is NaN. */
void prompts_fill(const struct cp_plan *plan, double *k, double *v);

/* Column j of what a row of prompt s gives, and its log-sum-exp, where all scores are 0. */
double prompts_output(const struct prompts *p, int s, int row, int j);
double prompts_lse(const struct prompts *p, int s, int row);

#endif
