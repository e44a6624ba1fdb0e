/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic class and the counts of operations by which the certified tolerance of a row is
 * computed. */
#ifndef CHUNKPROOF_GATE_JUDGE_CLASS_H
#define CHUNKPROOF_GATE_JUDGE_CLASS_H

#include "chunkproof/kernel.h"
#include "chunkproof/tolerance.h"
#include "gate/case/recipe.h"

/* What the kernel declares (NUM-7), and the counts (NUM-8), for a row of n keys of d numbers whose
 * scores are at most `largest_score` in magnitude. */
void gate_class(const struct cp_kernel *kernel, const struct gate_recipe *recipe, int n,
                double largest_score, struct cp_arithmetic *arithmetic, struct cp_counts *counts);

/* The error that the kernel's logarithm and format add to a log-sum-exp. */
double gate_lse_error(const struct cp_kernel *kernel, int n, double largest_score);

#endif
