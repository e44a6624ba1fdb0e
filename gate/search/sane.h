/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_GATE_SEARCH_SANE_H
#define CHUNKPROOF_GATE_SEARCH_SANE_H

#include "gate/search/result.h"

/* Can this have come of at most so many cases? For a result that was read from a file: numbers are
 * in their ranges, counts add up, and texts end. */
int gate_result_is_sane(const struct gate_result *result, long long cases);

#endif
