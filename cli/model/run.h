/* SPDX-License-Identifier: Apache-2.0 */
/* The model at work: scores of a text, and its continuation (LM-1, LM-2, LM-3). The logits are
 * compared with those of other implementations (LM-4), and held to bounds (LM-5). */
#ifndef CHUNKPROOF_CLI_MODEL_RUN_H
#define CHUNKPROOF_CLI_MODEL_RUN_H

#include <stdio.h>

#include "cli/model/weights.h"

/* What is known of a window. */
struct run_score {
    int n;          /* tokens that were predicted */
    double log_sum; /* of their ln p */
    int n_best;     /* how many of them had the largest logit */
};

/* A text to score: LM-1, LM-2. */
struct run_text {
    const struct weights *weights;
    const int *token;
    int n_tokens, window, threads;
    int is_fast;  /* 1: on the fast decoder, all threads in a window; 0: on the reference */
    FILE *logits; /* a regular file, or NULL */
};

/* Scores the text, windows side by side. 0; or -1 after a message: no memory, or the logits could
 * not be written. */
int run_score(const struct run_text *text, struct run_score *score);

/* The token with the largest of n logits; the first of equal ones (LM-3). */
int run_best(const double *logit, int n);

/* ln p of the token, of n logits of which `best` is the largest (LM-2): its own less the
 * log-sum-exp of all. */
double run_log_p(const double *logit, int n, int best, int token);

/* How many tokens follow n positions, of n_more >= 1 that are asked for: none but the first stands
 * beyond the model's context (LM-3). Where that is a matter, a warning says so. */
int run_most(const struct weights_name *name, const struct weights *weights, int n, int n_more);

/* Called with each token that is generated; not 0 ends it. */
typedef int run_take(void *context, int token);

/* Continues the n tokens of a prompt by n_more at most (LM-3), on the reference decoder, or on the
 * fast one with so many threads, where that is not 0. run_most() says how many may be asked for. 0,
 * or -1 after a message. */
int run_generate(const struct weights *weights, const int *token, int n, int n_more,
                 int fast_threads, run_take *take, void *context);

#endif
