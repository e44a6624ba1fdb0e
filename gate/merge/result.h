/* SPDX-License-Identifier: Apache-2.0 */
/* What came of many cases of a kernel that merges. */
#ifndef CHUNKPROOF_GATE_MERGE_RESULT_H
#define CHUNKPROOF_GATE_MERGE_RESULT_H

#include "gate/merge/judge.h"
#include "gate/search/result.h"

#define MERGE_MISTAKES 64 /* more than there are (mistakes.h) */

/* A case and what was found in it. */
struct merge_found {
    long long index, work; /* which case, and about how large it is */
    struct merge_recipe recipe;
    struct merge_finding finding;
    int needs_others; /* 1: the case is right without the cases before it */
    int has_before;   /* 1: wrong in a new process after `before`, right without it */
    struct merge_recipe before;
    char file[256]; /* where the case was saved; "": nowhere */
};

/* What came of all cases with one kind of values. */
struct merge_tally {
    long long cases, wrong, compared, unclaimed;
    double largest; /* error / bound */
    double seconds;
    long long verdicts[MERGE_VERDICTS];
    struct merge_found smallest; /* the smallest case that is not right, if any */
};

/* The largest sizes of cases that ran. */
struct merge_sizes {
    int n_parts, n_rows, n_heads, head_dim;
};

struct merge_result {
    struct merge_tally tally[MERGE_VALUES];
    long long cases, refused, runs; /* cases taken, cases refused, calls of the kernel */
    long long laws;                 /* calls with the parts of a row in another order, and so on */
    long long unjudged;             /* cases with too few finite bounds */
    long long verdicts[MERGE_VERDICTS];
    struct merge_found found[MERGE_VERDICTS];            /* the smallest case of each verdict */
    long long explained[MERGE_VERDICTS][MERGE_MISTAKES]; /* of these, those that a mistake gives */
    char refusal[RUN_TEXT];                              /* the reason of the last refusal */
    struct merge_sizes sizes;
    struct gate_log each, usual; /* all cases, and those of the usual test; when asked for */
    long long asked;             /* how many cases were asked for */
    int interrupted, is_late, failed;
    double seconds;
};

/* Counts one more case, which took so many seconds. */
void merge_result_count(struct merge_result *result, const struct merge_found *found,
                        double seconds);

void merge_result_free(struct merge_result *result);

long long merge_wrong_cases(const struct merge_result *result);
long long merge_unclaimed(const struct merge_result *result);

/* The mistake that gives the most cases of a verdict, the first of these; -1: none gives a
 * quarter of them, and fewer may be by chance. */
int merge_likeliest(const struct merge_result *result, int verdict);

/* Why there is no verdict; NULL: there is one. */
const char *merge_no_answer(const struct merge_result *result);

/* "right", "wrong" or "none" */
const char *merge_answer(const struct merge_result *result);

#endif
