/* SPDX-License-Identifier: Apache-2.0 */
/* Acceptance rules on one output tensor: the certified tolerance, and other projects' rules. */
#ifndef CHUNKPROOF_FUZZ_RULES_H
#define CHUNKPROOF_FUZZ_RULES_H

#include "fuzz/tolerance/judge.h"
#include "gate/judge/rules.h"

/* The certified tolerance, then those of gate/judge/rules.h in their order. */
enum rule { CERTIFIED, N_RULES = GATE_RULES + 1 };

const char *rule_name(enum rule rule);

/* The largest error of the plain kernel, with inputs of a type. */
double rules_plain_error(const struct problem *problem, int type, const double *expected);

/* Whether the rule takes the kernel's result; `plain` is rules_plain_error(). */
int rules_accept(enum rule rule, const struct judgement *judgement, int d, double plain);

#endif
