/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what came of cases, one by one, and adds counts up. */
#ifndef CHUNKPROOF_GATE_SEARCH_TALLY_H
#define CHUNKPROOF_GATE_SEARCH_TALLY_H

#include "gate/case/problem.h"
#include "gate/search/result.h"

/* What this case covers. */
struct gate_covered gate_covers(const struct gate_problem *problem);

/* About how large a case is: of two cases, reports show the smaller one. */
long long gate_work_of(const struct gate_recipe *recipe);

/* How many cases are not right: of all cases, or of one kind of values. */
long long gate_wrong_cases(const struct gate_result *result);
long long gate_wrong_cases_of(const struct gate_tally *tally);

/* Counts one more case, of the kernel in `object`. If it is the smallest of its verdict, its text
 * gets source lines (lines.h). */
void gate_result_count(struct gate_result *result, const char *object,
                       const struct gate_found *this, const struct gate_covered *covers,
                       double seconds);

/* Adds `one` to `all`, which takes over its logs. 0, or -1: no memory. */
int gate_result_add(struct gate_result *all, struct gate_result *one);

#endif
