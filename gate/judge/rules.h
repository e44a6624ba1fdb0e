/* SPDX-License-Identifier: Apache-2.0 */
/* How the tests of others accept the output of an attention kernel: beside the certified tolerance,
 * to compare.
 *
 * They judge numbers of the output and nothing else: not the log-sum-exp, what was written beside,
 * whether the same call gives the same bits, nor what was read. The tensor is what the gate
 * compares: the same rows and heads. */
#ifndef CHUNKPROOF_GATE_JUDGE_RULES_H
#define CHUNKPROOF_GATE_JUDGE_RULES_H

enum gate_rule {
    GATE_ALLCLOSE_2,  /* |x - r| <= 1e-2 + 1e-2 |r| for each number: torch.allclose() */
    GATE_ALLCLOSE_3,  /* ... 1e-3 */
    GATE_BOTH_LARGE,  /* fail only where |x - r| > 1e-2 and |x - r| > 1e-2 |r| */
    GATE_TWICE_PLAIN, /* the largest error at most twice that of a plain kernel in the input's
                         format */
    GATE_COSINE,      /* of the whole tensor, above 0.99 */
    GATE_RULES
};

extern const char *const gate_rule_names[GATE_RULES];

#define GATE_ALL_RULES ((1U << GATE_RULES) - 1)

/* What the rules want to know of an output x and attention r, row by row; all 0 before the first.
 */
struct gate_tensor {
    unsigned beyond;           /* bit of a rule: some number is beyond it */
    double error, plain_error; /* the largest; NaN when one is */
    double product, x, r;      /* sums of x r, x x and r r */
};

void gate_tensor_add(struct gate_tensor *tensor, const double *x, const double *r, int n);

/* A row of n keys of d numbers. */
struct gate_plain_row {
    int type; /* of the inputs */
    int n, d;
    double scale;
    const double *q, *k, *v;
};

/* The largest error of attention written down plainly: scores, weights (divided by their sum) and
 * output rounded to the type, sums in binary32. 0, or -1: no memory. */
int gate_tensor_plain(struct gate_tensor *tensor, const struct gate_plain_row *row,
                      const double *r);

/* Bits of the rules that do not accept it. A NaN is accepted by none. */
unsigned gate_tensor_rejected(const struct gate_tensor *tensor);

#endif
