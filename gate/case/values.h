/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a problem. */
#ifndef CHUNKPROOF_GATE_CASE_VALUES_H
#define CHUNKPROOF_GATE_CASE_VALUES_H

#include "gate/case/problem.h"

/* Fills Q, K and V by the recipe's kind of values; every number is representable in its format. */
void gate_values_fill(struct gate_problem *problem);

/* The number of that format which is nearest to x. */
double gate_round(int type, double x);

/* x for printing: a NaN loses its sign. */
double gate_plain(double x);

#endif
