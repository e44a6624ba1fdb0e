/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a language model to a prompt, by cached inference (MOD-5, PML-14). */
#ifndef CHUNKPROOF_CLI_PROMPT_ANSWER_H
#define CHUNKPROOF_CLI_PROMPT_ANSWER_H

#include "cli/model/weights.h"
#include "cli/prompt/cache.h"
#include "cli/prompt/score.h"

/* A token of a prompt. */
struct prompt_piece {
    int position, token;
    enum pml_run_kind kind;
    char *text; /* as one line */
};

struct prompt_answer {
    int n_encoded;   /* tokens of modules that had not been encoded before */
    double encoding; /* seconds for these */
    double first;    /* seconds from the prompt to the first token: loading and computing */
    int behind;      /* the position of the token that it is predicted from */
    int begin;       /* the position of the first token */
    int n;           /* tokens of the answer */
    int *token;      /* [n] */
    char *text;      /* theirs, as one line */
    int is_compared; /* 1: the whole prompt was computed under its mask, too */
    int is_same;     /* 1: all logits of the first token were the same bits */
    double whole;    /* seconds for that */
    int n_pieces;
    struct prompt_piece
        *piece;        /* [n_pieces] all tokens of the prompt in order of position, or NULL */
    double difference; /* the largest of two logits, where they are not the same */
    int is_scored;     /* 1: the new text is scored */
    int n_scores;
    struct prompt_score *score; /* [n_scores] in order of position */
};

/* What is wanted. */
struct prompt_question {
    const struct weights *weights;
    struct prompt_fast *fast; /* which computes, as the cache's; or NULL: the reference does */
    int n_most;               /* tokens of an answer */
    int is_compared;          /* with the whole prompt under its mask */
    int is_each;              /* with all pieces of the prompt */
    int is_scored;            /* with the scores of the new text */
    FILE *logits;             /* to write those of the new tokens to; or NULL */
};

/* 0, or -1 after a message. The caller frees the answer. */
int prompt_answer(struct prompt_answer *answer, const struct prompt_question *question,
                  struct prompt_cache *cache, const struct pml_prompt *prompt);
/* Says whether the n logits of the first token are those of the whole prompt. */
void prompt_answer_compare(struct prompt_answer *answer, const double *logits, const double *whole,
                           int n);
void prompt_answer_free(struct prompt_answer *answer);

#endif
