/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the kernel, kept to be explained. */
#ifndef CHUNKPROOF_GATE_EXPLAIN_RUN_H
#define CHUNKPROOF_GATE_EXPLAIN_RUN_H

#include "gate/case/values.h"
#include "gate/judge/class.h"
#include "gate/judge/judge.h"
#include "gate/search/check.h"

/* One run of a case: what the kernel was given, what came of it, and what the judge says of each
 * number. Of a row and head there are `width` numbers: d elements, and the log-sum-exp. */
struct explain_run {
    struct gate_recipe recipe; /* of the case */
    /* Without its numbers. Pages that are no chunks (CONV-11) are its chunks here. */
    struct gate_problem problem;
    struct cp_kernel_call call; /* strides; its arrays are gone */
    double *q, *k, *v;          /* the arrays with all that lies in them */
    long long n_q, n_k;         /* elements, of Q and of K and V each */
    long long n_v;
    int unusual;     /* 1: what is far beyond its usual error counts as wrong */
    double lse_unit; /* log-sum-exps here are in nats: the kernel's, times this */
    int pairs, width;
    double *got, *expected, *bound; /* [pairs][width] */
    double *again;                  /* what the second run gave */
    unsigned char *rightness; /* enum gate_rightness; where there is no log-sum-exp, unclaimed */
    int wrong, wrong_lse, wrong_pairs; /* numbers; of these, log-sum-exps; rows and heads */
    int has_number;                    /* 1: a wrong number is one */
};

/* A kernel as it is explained: its log-sum-exps are in nats (CONV-1), whatever the unit of those
 * that it gives, which becomes *lse_unit. */
struct cp_kernel explain_in_nats(const struct cp_kernel *kernel, double *lse_unit);

/* 0, or -1: no memory; to be freed in either case. kernel: in nats. unusual: what is far beyond its
 * usual error counts as wrong. */
int explain_run_new(struct explain_run *run, const struct cp_kernel *kernel, double lse_unit,
                    const struct gate_problem *problem, const struct gate_arrays *one,
                    const struct gate_arrays *other, int unusual);
void explain_run_free(struct explain_run *run);

/* The numbers of one row and head, which sees so many keys. */
struct explain_results {
    const struct explain_run *run;
    int pair, sees, d;
    const double *got, *expected, *bound, *again; /* [d + 1] */
    const unsigned char *rightness;
};
struct explain_results explain_results(const struct explain_run *run, int pair);

/* 1: number i is wrong; and some number of the pair is. */
static inline int explain_is_wrong_number(const struct explain_results *r, int i) {
    return r->rightness[i] == GATE_NUMBER_WRONG;
}
int explain_is_wrong(const struct explain_run *run, int pair);

/* Bounds of d elements become GATE_UNUSUAL times their usual error (NUM-13), where that is less. */
void explain_narrow(const struct gate_numbers *numbers, int d);

#endif
