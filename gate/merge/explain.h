/* SPDX-License-Identifier: Apache-2.0 */
/* Why a kernel that merges is wrong in a case: from the case, and from some cases like it. */
#ifndef CHUNKPROOF_GATE_MERGE_EXPLAIN_H
#define CHUNKPROOF_GATE_MERGE_EXPLAIN_H

#include <stdio.h>

#include "gate/merge/check.h"

/* Prints, for at most so many seconds:
 *   - the parts of the first wrong place, their weights, and what comes of them;
 *   - which rows, heads and elements are wrong, and what only they have (seen.h);
 *   - the mistakes that give all wrong numbers of the most cases (mistakes.h);
 *   - the declarations with which all these results would be right.
 * The finding is that of the case. 0, or -1 after saying why there is no verdict. */
int merge_explain(FILE *out, struct runner *runner, const struct merge_recipe *recipe,
                  const struct merge_finding *finding, double seconds, const volatile int *stop);

#endif
