/* SPDX-License-Identifier: Apache-2.0 */
/* What came of cases: counted one by one, and added up. */
#ifndef CHUNKPROOF_GATE_SEARCH_TALLY_H
#define CHUNKPROOF_GATE_SEARCH_TALLY_H

#include "gate/case/problem.h"
#include "gate/search/result.h"

/* What this case covers. */
struct gate_covered gate_covers(const struct gate_problem *problem);

/* How large a case is, about: the smaller one is shown. */
long long gate_work_of(const struct gate_recipe *recipe);

/* Cases that are not right: of all, or with one kind of values. */
long long gate_wrong_cases(const struct gate_result *result);
long long gate_wrong_cases_of(const struct gate_tally *tally);

/* One case more, of the kernel in `object`: if it is the smallest of its verdict, its text gets
 * lines (lines.h). */
void gate_result_count(struct gate_result *result, const char *object,
                       const struct gate_found *this, const struct gate_covered *covers,
                       double seconds);

/* Adds `one` to `all`, and takes over its logs. 0, or -1: no memory. */
int gate_result_add(struct gate_result *all, struct gate_result *one);

#endif
