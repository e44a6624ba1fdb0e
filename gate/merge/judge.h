/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of merges (MERGING-11): are all numbers within the certified bounds of MERGING-6 and
 * MERGING-7, and was all written, and nothing else? */
#ifndef CHUNKPROOF_GATE_MERGE_JUDGE_H
#define CHUNKPROOF_GATE_MERGE_JUDGE_H

#include "gate/judge/finding.h"
#include "gate/merge/arrays.h"

/* Verdicts: those of attention, and two more (MERGING-2). */
enum {
    MERGE_ORDER = GATE_VERDICTS, /* right with the same parts in another order, and wrong in one */
    MERGE_EMPTY_PARTS,           /* the same with and without parts that have no key */
    MERGE_VERDICTS
};

const char *merge_verdict_name(int verdict);

#define MERGE_PAIRS 16 /* rows and heads with wrong numbers that are kept */

struct merge_finding {
    int verdict;
    struct gate_finding of; /* its verdict is that of the numbers */
    struct {
        int row, head;
    } pair[MERGE_PAIRS]; /* the first n_pairs that are wrong */
    int n_pairs;
    unsigned long long mistakes; /* bits of those that give all numbers of these (mistakes.h) */
};

/* The expected results of a row and head, and their bounds: d elements, then the log-sum-exp. */
struct merge_expected {
    double *expected, *bound; /* [d + 1] */
};

/* 1: some part has a key. 0: the numbers are those that the kernel declares, exactly, and a bound
 * is infinite where any number is right. -1: no memory. */
int merge_certify(const struct merge_problem *problem, int row, int head,
                  const struct merge_expected *to);

/* The parts of a row and head as the library takes them: o [part][d] and l [part]. A part without
 * keys has zeros, for what it has counts for nothing (MERGING-1). */
void merge_gather(const struct merge_problem *problem, int row, int head, double *o, double *l);

/* Compares all results with the merge. 0, or -1: no memory. */
int merge_judge(const struct merge_arrays *arrays, struct merge_finding *finding);

/* Compares two runs of one call, which began with these bytes. 0, or -1: no memory. */
int merge_judge_writes(const struct merge_arrays *one, const struct merge_arrays *other,
                       const unsigned char poison[2], struct merge_finding *finding);

#endif
