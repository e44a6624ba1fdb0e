/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that merge, emulated number by number: every operation is rounded to the type that the
 * class declares, and exponentials, logarithms and divisions err as far as it allows. */
#ifndef CHUNKPROOF_TESTS_MERGING_KERNELS_H
#define CHUNKPROOF_TESTS_MERGING_KERNELS_H

#include "chunkproof/merging.h"

#define MERGING_MOST_PARTS 24
#define MERGING_MOST_DIM   6

struct merging_kernel {
    struct cp_merging_class declared;
    int divides_weights; /* 1: weights are divided by n, then multiplied; 0: the sums are divided */
    int fuses;           /* 1: products are added without a rounding between */
    int balanced;        /* of pairs: 1: neighbours, again and again; 0: one after the other */
    int shuffles;        /* 1: parts come in another order */
    /* The parts as they are given by sums, and then the row is what cp_merging_of_sums() made of
     * them (MERGING-12); else NULL. */
    const struct cp_merging_sums *given;
};

/* What the kernel writes for a row. Its choices, where it has any, come from `random`. */
void merging_emulate(const struct merging_kernel *kernel, const struct cp_merging_row *row,
                     unsigned long long *random, double *out, double *lse);

/* The nearest number of a type. */
double merging_round(int type, double x);

#endif
