/* SPDX-License-Identifier: Apache-2.0 */
/* Acceptance rules: the certified tolerance, and what others use, on one output tensor. */
#ifndef CHUNKPROOF_FUZZ_RULES_H
#define CHUNKPROOF_FUZZ_RULES_H

#include "fuzz/tolerance/judge.h"

enum rule {
    CERTIFIED,   /* each number within its bound */
    ALLCLOSE_2,  /* |x - r| <= 1e-2 + 1e-2 |r| for each number */
    ALLCLOSE_3,  /* ... 1e-3 */
    BOTH_LARGE,  /* fail only where |x - r| > 1e-2 and |x - r| > 1e-2 |r| */
    TWICE_PLAIN, /* largest error at most twice that of a plain kernel in the input's format */
    COSINE,      /* of the whole tensor, above 0.99 */
    N_RULES
};

const char *rule_name(enum rule rule);

/* The largest error of attention written down plainly: scores, weights (divided by their sum) and
 * output rounded to `type`, sums in binary32. */
double rules_plain_error(const struct problem *problem, int type, const double *expected);

/* Whether the rule takes the kernel's result; `plain` is rules_plain_error(). */
int rules_accept(enum rule rule, const struct judgement *judgement, int d, double plain);

#endif
