/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's result against the certified tolerance of the class that it declares. */
#ifndef CHUNKPROOF_FUZZ_JUDGE_H
#define CHUNKPROOF_FUZZ_JUDGE_H

#include "fuzz/tolerance/inputs.h"

#define JUDGE_MOST_DIM 128

struct judgement {
    int claimed;       /* elements with a bound */
    int violated;      /* elements beyond it, or not a number */
    int lse_violated;  /* likewise */
    int no_execution;  /* an intermediate number overflowed: nothing is claimed */
    double worst;      /* largest error / bound; INFINITY: not a number */
    int worst_element; /* -1: none */
    double worst_lse;
    double out[JUDGE_MOST_DIM], expected[JUDGE_MOST_DIM], bound[JUDGE_MOST_DIM];
    double lse, expected_lse, lse_bound;
    double largest_score; /* magnitude of the kernel's scores, in nats */
};

/* Runs `kernel` and judges it by the class of `declared`, which is `kernel` as a rule. exactly:
 * also compares with the ground truth of tests/exact.h. */
void judge(const struct options *kernel, const struct options *declared,
           const struct problem *problem, int exactly, struct judgement *judgement);

/* Judges a result that is in *judgement already, by a class; truth: [d] and the log-sum-exp, or
 * NULL. */
void judge_by(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
              double lse_error, const struct problem *problem, const double *truth,
              struct judgement *judgement);

/* Why a kernel goes beyond its declaration: the looser class that would allow it, if there is
 * one. */
struct excuse {
    const char *name; /* "partials in binary16" */
    void (*loosen)(struct options *options);
};
#define N_EXCUSES 9
extern const struct excuse excuses[N_EXCUSES];

#endif
