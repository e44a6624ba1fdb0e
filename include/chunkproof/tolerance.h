/* SPDX-License-Identifier: Apache-2.0 */
/* The certified tolerance (spec/tolerance.md): how far the result of a kernel may be from attention when
 * rounding is all that is wrong with it. A kernel declares its arithmetic class; the bound follows from that
 * and from the data, for each number of the output, by a theorem (proofs/coq/NumTolerance.v). */
#ifndef CHUNKPROOF_TOLERANCE_H
#define CHUNKPROOF_TOLERANCE_H

#ifdef __cplusplus
extern "C" {
#endif

/* NUM-4: y is x rounded when |y - x| <= max(unit |x|, tiny); no infinity up to `largest`. A format without
 * an error (a weight that is not rounded at all) has unit = tiny = 0. */
struct cp_format {
    double unit;
    double tiny;
    double largest;
};

/* Rounded to nearest; cp_format_truncating() and cp_format_flushing() weaken one. bfloat16 is known here
 * though K and V cannot be kept in it. */
struct cp_format cp_format_fp16(void);
struct cp_format cp_format_bf16(void);
struct cp_format cp_format_fp32(void);
struct cp_format cp_format_fp64(void);
struct cp_format cp_format_truncating(struct cp_format format);
struct cp_format cp_format_flushing(struct cp_format format); /* subnormal numbers become 0 */

/* NUM-6: how a score is computed. Terms (products) with an error, their sum of `depth` additions on the
 * longest way and `n_additions` in all, the scaling. */
struct cp_score_arithmetic {
    double term_unit, term_tiny; /* G - 1, t */
    double unit, tiny;           /* of an addition */
    int depth, n_additions;      /* k, n */
    double scale_unit, scale_tiny;
    int scaled_before; /* 1: the query is scaled, then multiplied; 0: the sum is scaled */
};

/* NUM-7: the class. All numbers are >= 0; the names are those of the specification. References lie
 * between the largest computed score of the keys so far and `above` that; they are at most `below`
 * under it, and under the reference before. 0 and 0: each is such a maximum. A maximum that is left
 * alone until a score exceeds it by x has below = x. Where a state is divided at once (NUM-8), its
 * reference is a log-sum-exp: above = the logarithm of the number of keys, and both what that may
 * be off. */
struct cp_arithmetic {
    struct cp_score_arithmetic score;
    double u_arg, u_ref, u_move; /* of the argument of the exponential */
    double eps, kappa;           /* of its result: as a logarithm; absolute */
    struct cp_format weights;    /* P */
    int rounded_sum;             /* 1: the row sum takes P after it was rounded */
    double u_n, eta_n, u_o, eta_o, u_part;
    double u_div, eta_div;
    struct cp_format output;
    double above, below;
};

/* NUM-8: how much is done, on the longest way from a key and in all. */
struct cp_counts {
    int depth_n, depth_o, stores, changes;
    double operations_n, operations_o;
};

/* Of n_chunks >= 1 chunks of at most chunk_size >= 1 keys each, merged two at a time in any order. */
struct cp_counts cp_counts_of_chunks(int chunk_size, int n_chunks);

/* A plain kernel of these formats: products and sums in binary32 to nearest, one after the other, the
 * exponential within one unit in the last place, P and the output in the formats given, d numbers per key. */
struct cp_arithmetic cp_arithmetic_fp32(int d, struct cp_format weights, struct cp_format output);

/* All in binary64: the reference itself. */
struct cp_arithmetic cp_arithmetic_fp64(int d);

/* NUM-6: the error of a score; magnitude is |scale| sum |q_i k_i|. */
double cp_score_error(const struct cp_score_arithmetic *arithmetic, double scale, int d,
                      double magnitude);

/* What is asked: one query row and head. */
struct cp_tolerance_row {
    int n_keys, head_dim;
    double scale;
    const double *q; /* [head_dim] */
    const double *k; /* [n_keys][head_dim] */
    const double *v; /* [n_keys][head_dim] */
    double *scratch; /* 3 n_keys numbers, overwritten */
};

/* NUM-10, NUM-11: expected[i] is attention up to a little, and every kernel of the class writes a number
 * within bound[i] of it: bound is B and what expected itself may lack. *lse and *lse_bound (nats) likewise,
 * for a log-sum-exp that the kernel computes with an error of at most lse_error; NULL: not asked for.
 * A bound is INFINITY where nothing can be claimed: no key (zeros and -infinity are demanded then), scores
 * too uncertain, or (NUM-12) a result that may overflow the output's format.
 *
 * Never below the exact value of the formula: tolerance.c says why. Costs about as much as attention. */
void cp_tolerance(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                  const struct cp_tolerance_row *row, double lse_error, double *expected,
                  double *bound, double *lse, double *lse_bound);

#ifdef __cplusplus
}
#endif

#endif
