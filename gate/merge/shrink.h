/* SPDX-License-Identifier: Apache-2.0 */
/* Smaller cases with the same verdict. */
#ifndef CHUNKPROOF_GATE_MERGE_SHRINK_H
#define CHUNKPROOF_GATE_MERGE_SHRINK_H

#include "gate/merge/check.h"

/* Makes a case smaller while its verdict and its clause stay, for at most so many seconds: fewer
 * parts, rows and heads, smaller d, plainer values and arrays. Sizes that `shape` asks for stay.
 * Returns how many cases it tried; or -1 after saying why there is no verdict. */
int merge_shrink(struct runner *runner, struct merge_found *found, const struct gate_shape *shape,
                 double seconds, const volatile int *stop);

#endif
