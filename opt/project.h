/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices in binary32, by the loops of kernels.h and with all threads of a team. A
 * number of a product is a sum of n_in products, in some order that depends on n and n_in alone: it
 * has the same bits for any number of threads. */
#ifndef CHUNKPROOF_OPT_PROJECT_H
#define CHUNKPROOF_OPT_PROJECT_H

#include <stddef.h>

#include "opt/handle.h"

/* y[t][r] = weight[r] . x[t] + bias[r], t = 0 .. n - 1 and r = 0 .. n_out - 1. */
struct opt_projection {
    float *y;            /* [n][n_out] */
    const float *weight; /* [n_out][n_in] */
    const float *bias;   /* [n_out], or NULL: none */
    int n_out;
};

#define OPT_PROJECTIONS 3 /* at once */

/* Rows that several products take. */
struct opt_rows {
    const float *x; /* [n][n_in] */
    int n, n_in;
};

/* Numbers of room for rows of this shape. */
size_t cp_opt_project_room(int n, int n_in);

/* All products of these rows. No y overlaps another array; room begins at a multiple of 64 bytes or
 * not, as it likes. */
void cp_opt_project(struct cp_opt *opt, struct opt_rows rows, const struct opt_projection *to,
                    int n_to, float *room);

#endif
