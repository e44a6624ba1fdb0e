/* SPDX-License-Identifier: Apache-2.0 */
/* What the wrong rows and heads have that the right ones have not: of some cases together. */
#ifndef CHUNKPROOF_GATE_MERGE_SEEN_H
#define CHUNKPROOF_GATE_MERGE_SEEN_H

#include <stdio.h>

#include "gate/merge/arrays.h"

#define MERGE_SEEN 8192 /* rows and heads that are kept */

/* A row and head that was judged. */
struct merge_pair {
    int wrong;    /* 1: some number is */
    int in_case;  /* which case it is of */
    int parts;    /* of the row */
    int empties;  /* of these, without keys */
    unsigned has; /* bits of seen.c's table */
    int row, head;
};

struct merge_seen {
    struct merge_pair pair[MERGE_SEEN];
    int n, wrong; /* pairs; and those that are wrong */
    int cases;
    /* Of the wrong pairs: the first and last element that is wrong, how many elements are wrong
     * in one or another, how many widths there were, and whether log-sum-exps are. */
    int first, last, width;
    long long wrong_out, wrong_lse, asked; /* wrong numbers of out, of lse; pairs with an lse */
    /* Wrong log-sum-exps of rows without keys: how many, the first, and those that are others. */
    long long of_none, of_none_others;
    double none;
};

/* Judges all rows and heads of a run, and keeps them. 0, or -1: no memory. */
int merge_see(struct merge_seen *seen, const struct merge_arrays *arrays);

/* Prints what is common to the wrong ones, and to none of the others. */
void merge_say_seen(FILE *out, const struct merge_seen *seen);

#endif
