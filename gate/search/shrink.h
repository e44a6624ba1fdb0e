/* SPDX-License-Identifier: Apache-2.0 */
/* Smaller cases with the same verdict. */
#ifndef CHUNKPROOF_GATE_SEARCH_SHRINK_H
#define CHUNKPROOF_GATE_SEARCH_SHRINK_H

#include "gate/search/check.h"

/* Makes the case that was found smaller while the verdict stays, for at most so many seconds: fewer
 * operations, shorter sequences, fewer heads, smaller d, plainer layouts and values; what `shape`
 * asks for stays. Returns how many cases it tried; -1 as above. */
int gate_shrink(struct runner *runner, struct gate_found *found, const struct gate_shape *shape,
                double seconds, const volatile int *stop);

#endif
