/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and sums of a kernel, emulated exactly. A number of any format is kept in a double; each
 * operation is computed exactly or rounded to odd in binary64, then rounded once to its format. */
#ifndef CHUNKPROOF_FUZZ_SUMS_H
#define CHUNKPROOF_FUZZ_SUMS_H

/* x rounded to `type` (CP_FP16, CP_BF16, CP_FP32), to nearest; toward zero, binary32 only. */
double sums_round(int type, double x);
double sums_truncate(double x);

/* a + b, rounded to odd: the sum if it is a binary64 number, else its odd neighbour. Rounded again
 * to a format of at most 51 bits, it gives what a + b itself gives. */
double sums_add_odd(double a, double b);

enum sum_method {
    SUM_SEQUENTIAL, /* one term after the other */
    SUM_PAIRWISE,   /* a balanced tree */
    SUM_LANES,      /* 8 interleaved sums, then their sum */
    SUM_BLOCKS, /* a tensor core: `block` products and the accumulator, aligned, cut off, added */
    N_SUM_METHODS
};
enum sum_order { SUM_FORWARD, SUM_BACKWARD, SUM_SHUFFLED, N_SUM_ORDERS };

#define SUM_LANES_COUNT 8

/* How a sum of products is computed. Fused: a product is not rounded before it is added
 * (SUM_SEQUENTIAL). In SUM_BLOCKS products are exact; bits more than `fraction` below the largest
 * exponent are cut off; the sum is rounded to nearest, or cut off too. */
struct sum {
    enum sum_method method;
    enum sum_order order;
    int fused;
    int block, fraction, truncating;
    /* NUM-20: so many products are added in short_type, CP_FP16 or CP_BF16, and the sum of them is
     * then added in the type of the sum; 0: one sum. Not in SUM_BLOCKS. */
    int promotes, short_type;
};

/* The sum of a[i] b[i] (b NULL: of a[i]), n of them, and of `start` (0: none), in `type`: CP_FP32
 * or CP_FP16. a is overwritten; so is b where the order is not forward. */
double sums_products(const struct sum *sum, int type, double *a, double *b, int n, double start,
                     unsigned long long *random);

/* Whether a sum of the type may overflow binary16 on its way. */
int sums_in_half(const struct sum *sum, int type);

/* The error that NUM-5 allows the sum. `bits`: of an exact product of two numbers. */
int sums_rounds_products(const struct sum *sum, int type, int bits);
double sums_unit(const struct sum *sum, int type, int bits);
double sums_tiny(const struct sum *sum, int type);
int sums_depth(const struct sum *sum, int n, int with_start);

#endif
