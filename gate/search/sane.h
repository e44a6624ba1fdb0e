/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_GATE_SEARCH_SANE_H
#define CHUNKPROOF_GATE_SEARCH_SANE_H

#include "gate/search/result.h"

/* No search compares more: sums of such counts, and ten times that, are numbers, too. */
#define GATE_MOST_NUMBERS (1LL << 52)

/* Can this have come of at most so many cases? For a result that was read from a file: numbers are
 * in their ranges, counts add up, and texts end. */
int gate_result_is_sane(const struct gate_result *result, long long cases);

/* The same of parts of other results: of what is wrong in a case, and of n counts that are `all`
 * together. */
int gate_finding_is_sane(const struct gate_finding *finding);
int gate_counts_are_sane(const long long *counts, int n, long long all);

#endif
