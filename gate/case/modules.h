/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a recipe with modules. */
#ifndef CHUNKPROOF_GATE_CASE_MODULES_H
#define CHUNKPROOF_GATE_CASE_MODULES_H

#include "gate/case/problem.h"

/* Makes the lists of a problem whose recipe has modules, of the kind of plan that it says. 0, or
 * -1: no memory. */
int gate_modules_plan(struct gate_problem *problem);

#endif
