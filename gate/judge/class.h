/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic class and the counts of operations by which the certified tolerance of a row is
 * computed. */
#ifndef CHUNKPROOF_GATE_JUDGE_CLASS_H
#define CHUNKPROOF_GATE_JUDGE_CLASS_H

#include "chunkproof/kernel.h"
#include "chunkproof/tolerance.h"
#include "gate/case/recipe.h"

/* NUM-7, NUM-8 for a row of n keys of d numbers, of which no score is larger in magnitude: what the
 * kernel declares. */
void gate_class(const struct cp_kernel *kernel, const struct gate_recipe *recipe, int n,
                double largest_score, struct cp_arithmetic *arithmetic, struct cp_counts *counts);

/* What its logarithm and its format make of a log-sum-exp. */
double gate_lse_error(const struct cp_kernel *kernel, int n, double largest_score);

#endif
