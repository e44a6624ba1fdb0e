/* SPDX-License-Identifier: Apache-2.0 */
/* What came of many cases: counts, the smallest case of each verdict, and what the cases
 * covered. */
#ifndef CHUNKPROOF_GATE_SEARCH_RESULT_H
#define CHUNKPROOF_GATE_SEARCH_RESULT_H

#include "gate/case/recipe.h"
#include "gate/judge/finding.h"
#include "gate/runner/runner.h"
#include "gate/search/sizes.h"

/* A case and what was found in it. */
struct gate_found {
    long long index, work; /* which case, and about how large it is */
    int needs_others;      /* 1: the case is right without the cases before it */
    int has_before;        /* 1: wrong in a new process after `before`, right without it */
    struct gate_recipe recipe, before;
    struct gate_finding finding;
    char file[256]; /* where the case was saved; "": nowhere */
};

/* Intervals of error / bound. Interval 0 ends at 2^-12, and GATE_RATIO_ONE at 1; what lies above 1
 * is wrong. The last is open, and each between the first and the last is a factor of sqrt(2) wide.
 *
 * Intervals of numbers of keys: 0 is no key, i is 2^(i-1) keys and more. */
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
    /* How many cases have so many keys and such a largest error / bound. */
    int spread[GATE_KEYS][GATE_RATIOS];
    struct gate_found smallest; /* the smallest case that is not right, if any */
};

/* Cases of one head_dim that were judged, and the keys of the longest sequence among them. */
#define GATE_HEAD_DIMS 24 /* more than recipes have */
struct gate_covered {
    int head_dim;
    long long cases;
    int keys;
};

/* A case, judged by other projects' rules. */
struct gate_entry {
    long long index;
    int values, verdict; /* of the kind of kernel: see struct gate_log_names */
    /* 0: the case gave no numbers, and ended in a way that nobody would notice. */
    int judged;
    /* A bit for each rule that rejects the case; all bits where the case did not end as it
     * should. */
    unsigned rejected;
    double seconds; /* how long the case took */
};

struct gate_log {
    struct gate_entry *entry; /* in the order of the runs */
    long long n, room;
};

/* What the most unusual number may be the result of: `chunkproof explain` names it. */
struct gate_cause {
    int key; /* the one with the largest weight of its row and head; -1: not known */
    double weight;
    char text[480]; /* "": nothing was tried. Longer than what explain says of a mistake */
};

struct gate_result {
    struct gate_tally tally[GATE_VALUES];
    long long cases, refused, runs; /* cases taken, cases refused, calls of the kernel */
    long long verdicts[GATE_VERDICTS];
    /* The smallest case of each verdict; of GATE_RIGHT, the smallest with unusual numbers, if there
     * is one: gate_is_unusual(). */
    struct gate_found found[GATE_VERDICTS];
    char refusal[RUN_TEXT]; /* the reason of the last refusal */
    long long too_large;    /* attempts that --memory has no room for */
    /* Results that were also held to closer declarations. */
    long long tried_closer;
    long long parts; /* calls with a part of a case, of a kernel that declares CONV-5 */
    /* A bit for each enum gate_closer under which one of these results was wrong. */
    unsigned needed;
    struct gate_covered covered[GATE_HEAD_DIMS]; /* by head_dim; n_covered of them */
    int n_covered;
    struct gate_sizes sizes;
    /* Right numbers that are far beyond their usual error, cases that have such numbers, and the
     * case of the farthest one. */
    long long unusual, unusual_cases;
    struct gate_found most_unusual;
    /* Cases that ran, but with too few finite bounds to be judged. */
    long long unjudged;
    int unjudged_keys;           /* keys of the longest sequence in those cases */
    struct gate_log each, usual; /* all cases, and those of the usual test; when asked for */
    long long asked;             /* how many cases were asked for */
    /* Why the search ended early: a signal; --time; an error, after a message. */
    int interrupted, is_late, failed;
    double seconds;
};

/* Is it a right case with unusual numbers? */
int gate_is_unusual(const struct gate_found *found);

/* How many numbers have no finite bound; and whether that is too many for a verdict. */
long long gate_unclaimed(const struct gate_result *result);
int gate_claims_too_little(const struct gate_result *result);

/* Did --time leave so few cases that there is no verdict? */
#define GATE_LEAST_CASES 400 /* as many as tier quick has; or all that were asked for */
int gate_has_too_few(const struct gate_result *result);

/* Nothing wrong was found, in enough cases. */
int gate_is_right(const struct gate_result *result);

#endif
