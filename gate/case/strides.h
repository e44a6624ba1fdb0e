/* SPDX-License-Identifier: Apache-2.0 */
/* Where the numbers of a problem lie in the arrays of a call: strides, gaps, one tensor or two
 * (CONV-12). */
#ifndef CHUNKPROOF_GATE_CASE_STRIDES_H
#define CHUNKPROOF_GATE_CASE_STRIDES_H

#include "gate/case/problem.h"

/* Strides of an array with three indices before that of the number; x is the outermost. */
struct gate_stride {
    long long x, y, z;
    long long width;     /* a row of d, and what is spread behind it */
    long long of_x;      /* elements for one x: all up to the next one, unless V lies between */
    long long first;     /* where the array begins in its memory: not at 0 where V is behind K */
    long long elements;  /* of the memory */
    long long far;       /* x as a kernel sees it where blocks are mapped once more, or 0; */
    long long far_first; /* and where V begins then */
    int pack;            /* CONV-12: so many numbers of a row lie together; 0: all do */
    long long group;     /* from some to the next ones */
};

/* ... of K, of V, of Q, of out and of lse. Of Q and results y is a row, and z a head. */
struct gate_all_strides {
    struct gate_stride k, v, q, out, lse;
};

struct gate_all_strides gate_strides(const struct gate_problem *problem);

/* How many arrays of blocks there are in the memory of K: K, or K and then V. */
int gate_halves(const struct gate_problem *problem);

/* In a large pool each block is mapped by itself. Where blocks have no gaps that is possible for
 * those whose numbers are multiples of this; 0: there are too few. */
int gate_pool_unit(const struct gate_problem *problem);

/* 1: V is in the memory of K. */
int gate_is_one_tensor(const struct gate_problem *problem);

#endif
