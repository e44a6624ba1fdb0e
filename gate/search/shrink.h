/* SPDX-License-Identifier: Apache-2.0 */
/* Smaller cases with the same verdict. */
#ifndef CHUNKPROOF_GATE_SEARCH_SHRINK_H
#define CHUNKPROOF_GATE_SEARCH_SHRINK_H

#include "gate/search/check.h"

/* Makes a case smaller while its verdict stays, for at most so many seconds: fewer operations,
 * shorter sequences, fewer heads, smaller d, plainer layouts and values. Sizes that `shape` asks
 * for stay. Returns how many cases it tried; or -1 after saying why there is no verdict. */
int gate_shrink(struct runner *runner, struct gate_found *found, const struct gate_shape *shape,
                double seconds, const volatile int *stop);

#endif
