/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that add a number to each score before it is weighed (NUM-14): a bias that grows with the
 * distance, any bias, or keys of zeros with a score of their own, which are sinks. */
#ifndef CHUNKPROOF_FUZZ_SHIFT_H
#define CHUNKPROOF_FUZZ_SHIFT_H

#include "fuzz/tolerance/emulate.h"

/* Shifts the scores of one problem in four, by numbers of the seed alone. */
void problem_shift(struct problem *problem, unsigned long long seed);

/* A score in the kernel's unit, with the shift of its key added in binary32. */
double shifted_score(const struct options *options, const struct problem *problem, int j,
                     double score);

/* How far that takes a kernel's score beyond NUM-6, in nats, for each key; does nothing where no
 * score is shifted. */
void shift_errors(const struct cp_score_arithmetic *arithmetic, const struct problem *problem,
                  double *errors);

#endif
