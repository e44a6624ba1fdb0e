/* SPDX-License-Identifier: Apache-2.0 */
/* What came of many cases: counts, the smallest case of each verdict, and what they covered. */
#ifndef CHUNKPROOF_GATE_SEARCH_RESULT_H
#define CHUNKPROOF_GATE_SEARCH_RESULT_H

#include "gate/case/recipe.h"
#include "gate/judge/finding.h"
#include "gate/runner/runner.h"

/* A case and what was found in it. */
struct gate_found {
    long long index, work; /* which case; about how large */
    int needs_others;      /* 1: not wrong without the cases before it */
    int has_before;        /* 1: wrong behind this one in a new process, and right without it */
    struct gate_recipe recipe, before;
    struct gate_finding finding;
    char file[256]; /* where it was saved; "" nowhere */
};

/* Intervals of error / bound: 0 is up to 2^-12, GATE_RATIO_ONE ends at 1, what is not right is
 * behind it; each but the first and the last is a factor of sqrt(2) wide. And of numbers of keys: 0
 * is none, i is 2^(i-1) and more. */
#define GATE_RATIOS    50
#define GATE_RATIO_ONE 24
#define GATE_KEYS      18

int gate_ratio_interval(double ratio);
int gate_keys_interval(int keys);

/* What came of all cases with one kind of values. */
struct gate_tally {
    long long cases, compared, unclaimed;
    long long verdicts[GATE_VERDICTS];
    double largest, seconds;
    int spread[GATE_KEYS]
              [GATE_RATIOS];    /* cases, by the largest error / bound of each and its keys */
    struct gate_found smallest; /* the smallest case that is not right, if one is */
};

/* Cases of one head_dim that were judged, and the keys of the longest sequence among them. */
#define GATE_HEAD_DIMS 24 /* more than recipes have */
struct gate_covered {
    int head_dim;
    long long cases;
    int keys;
};

/* A case by the rules of others. */
struct gate_entry {
    long long index;
    enum gate_values values;
    enum gate_verdict verdict;
    int judged;        /* 0: it gave no numbers, and did not end where anybody would notice it */
    unsigned rejected; /* bits of rules; all where it did not end as it should */
    double seconds;    /* that the case took */
};

struct gate_log {
    struct gate_entry *entry; /* in the order in which they were run */
    long long n, room;
};

struct gate_result {
    struct gate_tally tally[GATE_VALUES];
    long long cases, refused, runs; /* taken; asked for and not taken; calls of the kernel */
    long long verdicts[GATE_VERDICTS];
    struct gate_found found[GATE_VERDICTS]; /* the smallest case of each verdict */
    char refusal[RUN_TEXT];                 /* why, the last time */
    long long too_large;                    /* attempts that --memory has no room for */
    long long tried_closer; /* results that were held to closer declarations, too: */
    unsigned needed;        /* a bit for each enum gate_closer by which one was wrong */
    struct gate_covered covered[GATE_HEAD_DIMS]; /* by head_dim; n_covered of them */
    int n_covered;
    long long unjudged; /* cases that were run, and of too many of whose numbers nothing can be
                           claimed; */
    int unjudged_keys;  /* of the longest sequence among these */
    struct gate_log each, usual; /* cases, and those of the usual test; when asked for */
    int interrupted, is_late;    /* it was not to go on: a signal; --time */
    double seconds;
};

/* Of how many numbers nothing could be claimed; and whether these are too many for a verdict. */
long long gate_unclaimed(const struct gate_result *result);
int gate_claims_too_little(const struct gate_result *result);

#endif
