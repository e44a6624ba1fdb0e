/* SPDX-License-Identifier: Apache-2.0 */
/* How other projects' tests accept the output of a kernel. The gate reports these rules next to its
 * own verdict.
 *
 * The rules see only numbers of the output. They do not see the log-sum-exp, writes between the
 * rows, different bits for the same call, or reads out of bounds. A tensor is the set of rows and
 * heads that the gate compares. */
#ifndef CHUNKPROOF_GATE_JUDGE_RULES_H
#define CHUNKPROOF_GATE_JUDGE_RULES_H

enum gate_rule {
    GATE_ALLCLOSE_2, /* |x - r| <= 1e-2 + 1e-2 |r| for each number: torch.allclose() */
    GATE_ALLCLOSE_3, /* ... 1e-3 */
    GATE_BOTH_LARGE, /* fails only where |x - r| > 1e-2 and |x - r| > 1e-2 |r| */
    /* The largest error is at most twice that of a plain kernel in the format of the inputs. */
    GATE_TWICE_PLAIN,
    GATE_COSINE, /* of the whole tensor, above 0.99 */
    GATE_RULES
};

extern const char *const gate_rule_names[GATE_RULES];

#define GATE_ALL_RULES ((1U << GATE_RULES) - 1)

/* What the rules need of an output x and of the exact one r, summed up row by row; all 0 at
 * first. */
struct gate_tensor {
    unsigned beyond;           /* a bit for each rule that some number breaks */
    double error, plain_error; /* the largest so far; NaN when one is NaN */
    double product, x, r;      /* sums of x r, x x and r r */
};

void gate_tensor_add(struct gate_tensor *tensor, const double *x, const double *r, int n);

/* A row of n keys of d numbers, and values of d_v. */
struct gate_plain_row {
    int type; /* of the inputs */
    int n, d, d_v;
    double scale;
    const double *q, *k, *v;
    const double *shift; /* [n], of each score (NUM-14); NULL: none */
    double sink;         /* SCORE-3; -infinity: none */
};

/* Adds the error of a plain kernel: scores, weights (divided by their sum) and output are rounded
 * to the type, and sums are in binary32. 0, or -1: no memory. */
int gate_tensor_plain(struct gate_tensor *tensor, const struct gate_plain_row *row,
                      const double *r);

/* n finished results of d numbers, of which some part has a key. */
struct gate_plain_parts {
    int type; /* of the result */
    int n, d;
    int is_in_bits;  /* 1: l is in base 2 */
    const double *o; /* [n][d] */
    const double *l; /* [n]: -infinity: no key */
};

/* The same of a plain kernel that merges them: weights and output are rounded to the type. */
int gate_tensor_plain_merge(struct gate_tensor *tensor, const struct gate_plain_parts *parts,
                            const double *r);

/* Bits of the rules that reject the tensor. Every rule rejects a NaN. */
unsigned gate_tensor_rejected(const struct gate_tensor *tensor);

#endif
