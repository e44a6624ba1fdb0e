/* SPDX-License-Identifier: Apache-2.0 */
/* Rows to merge, classes, and what the library says of them: for the tests of merging. */
#ifndef CHUNKPROOF_TESTS_MERGING_CASE_H
#define CHUNKPROOF_TESTS_MERGING_CASE_H

#include "chunkproof/merging.h"
#include "merging_kernels.h"

#define P    MERGING_MOST_PARTS
#define D    MERGING_MOST_DIM
#define LN_2 0x1.62e42fefa39efp-1

/* A row with its numbers. */
struct problem {
    struct cp_merging_row row;
    double o[P * D], lse[P];
};

/* What is merged. */
struct result {
    double out[D], lse;
};

/* What the tolerance says of a row. */
struct claim {
    struct result expected, bound;
};

enum family {
    USUAL,         /* log-sum-exps a few nats apart */
    EQUAL,         /* all log-sum-exps are equal */
    APART,         /* some weights underflow in binary32 */
    FAR_APART,     /* all but one do, in binary64 too */
    EMPTY_SOME,    /* some parts have no key */
    EMPTY_MOST,    /* all but one have none */
    LARGE,         /* outputs near the largest number of the type */
    SUBNORMAL,     /* outputs below the normal numbers of the type */
    CANCELLING,    /* outputs of both signs whose mean is near 0 */
    ONE_DOMINATES, /* and the others are larger */
    FAMILIES
};

/* The first n_parts and d numbers of p are its row. */
void use(struct problem *p, int n_parts, int d, int base);

/* A row whose outputs are of a type, and its log-sum-exps of binary32. */
void make(struct problem *p, enum family family, int type, int base, unsigned long long *random);

/* Of the library; the row is in range. */
struct result merged(const struct problem *p);
struct claim claimed(const struct cp_merging_class *declared, const struct problem *p);

/* 1 if the first d outputs and the log-sum-exp are within their bounds. NaN is not. */
int is_within(const struct claim *c, const struct result *r, int d);

/* All in binary32. */
struct cp_merging_class plain(int way);

/* CHUNKPROOF_CASES (4,000), CHUNKPROOF_SEED (1). */
long cases(void);
unsigned long long seed(void);

#endif
