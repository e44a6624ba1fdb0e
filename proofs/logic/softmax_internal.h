/* SPDX-License-Identifier: Apache-2.0 */
/* How scores are made (struct cp_scoring of ref/softmax_internal.h), as the contracts name it.
 * Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_SOFTMAX_INTERNAL_H
#define CHUNKPROOF_LOGIC_SOFTMAX_INTERNAL_H

#include "ref/softmax_internal.h"

/*@
  logic scoring made_by(struct cp_scoring how) =
    made(how.scale, how.cap, how.slope, how.distance);
*/

#endif
