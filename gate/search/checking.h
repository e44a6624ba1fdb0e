/* SPDX-License-Identifier: Apache-2.0 */
/* What check.c and ask.c share. */
#ifndef CHUNKPROOF_GATE_SEARCH_CHECKING_H
#define CHUNKPROOF_GATE_SEARCH_CHECKING_H

#include "gate/search/check.h"

#define GATE_ATTEMPTS 3000 /* to find sizes that the kernel takes */

struct gate_results; /* invariance.h */

/* One gate run. */
struct checking {
    const struct gate_options *options;
    struct runner *runner;
    struct gate_budget *budget;
    struct gate_result *result;
    int has_earlier;            /* 1: `earlier` is a case that was right, to be run again */
    struct gate_recipe earlier; /* its recipe */
    unsigned long long digest;  /* of its results */
    int is_again;               /* 1: it runs, and the same bits are right */
    double recorded;            /* the time at which the last case was recorded */
    double case_began;          /* the time at which this case began */
    struct gate_covered covers; /* the sizes of this case */
    long long work;             /* the most work that this case may be */
    int elsewhere;              /* in how many other processes this case runs once more */
    int rules;                  /* 1: other rules (gate/judge/rules.h) judge each case, too */
    int judged;                 /* 1: they judged this case */
    unsigned rejected;          /* a bit for each of them that rejects this case */
    struct gate_results *kept;  /* for the results of the next run; NULL: nobody wants them */
    gate_looker *look;          /* NULL: nobody looks at results */
    void *context;
    struct gate_until until;
    int ended; /* 1: that came before sizes were found */
};

/* Does the kernel take the problem? Asks twice (GATE-4). 1 yes, or it misbehaves, which is a
 * finding; 0 no; -1 no verdict. */
int gate_kernel_takes(struct checking *checking, const struct gate_problem *problem,
                      size_t *workspace, struct gate_finding *finding);

/* GATE-4: asks once more what was asked before. 1: the answer is the same; 0: the finding says that
 * it is not; -1: no verdict. */
int gate_answers_again(struct checking *checking, const struct gate_problem *problem, int took,
                       size_t workspace, struct gate_finding *finding);

/* Looks for a case, from an attempt on. 1: found, or the kernel misbehaves when it is asked; 0:
 * there is none; -1: no verdict. */
int gate_find_recipe(struct checking *checking, long long index, int *attempt,
                     struct gate_recipe *recipe, struct gate_finding *finding);

/* Refuses a case of more bytes than there may be, and halves the next one. Was it refused? */
int gate_refuse_too_large(struct checking *checking, double bytes, struct gate_finding *finding);

/* 1 after saying that the system has less memory left than these bytes: else it would end some
 * program, perhaps this one. */
int gate_has_no_memory(double bytes);

#endif
