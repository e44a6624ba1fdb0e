/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a problem. */
#ifndef CHUNKPROOF_GATE_CASE_VALUES_H
#define CHUNKPROOF_GATE_CASE_VALUES_H

#include "gate/case/problem.h"

/* Q, K and V by the recipe's kind of values; every number is one of its type. */
void gate_values_fill(struct gate_problem *problem);

/* The nearest number of a type. */
double gate_round(int type, double x);

/* Without the sign of a NaN, to be printed. */
double gate_plain(double x);

#endif
