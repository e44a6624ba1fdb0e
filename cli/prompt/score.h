/* SPDX-License-Identifier: Apache-2.0 */
/* How likely a language model finds the new text of a prompt, token for token (PML-15). */
#ifndef CHUNKPROOF_CLI_PROMPT_SCORE_H
#define CHUNKPROOF_CLI_PROMPT_SCORE_H

#include <stdio.h>

/* A new token that is predicted: from the new token at the position before. */
struct prompt_score {
    int position, token;
    int rank;     /* how many tokens come before it by their logits, and 1 */
    int best;     /* the token of rank 1 */
    double log_p; /* ln p */
    char *text;   /* as one line; NULL until it is asked for */
};

/* What n logits say of the token at a position. */
struct prompt_score prompt_score_of(const double *logit, int n, int token, int position);

/* Writes n logits as float32. 0, or -1: errno says why. */
int prompt_score_write(FILE *out, const double *logit, int n);

#endif
