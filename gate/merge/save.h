/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest case of each verdict, once all cases have run: is it wrong by itself, too? */
#ifndef CHUNKPROOF_GATE_MERGE_SAVE_H
#define CHUNKPROOF_GATE_MERGE_SAVE_H

#include "gate/merge/check.h"

/* Each case runs again in a new process. With --save it is made smaller and kept as a file, with an
 * earlier case before it if it needs one. Its text gets lines of the source. 0, or -1 after saying
 * what is wrong. */
int merge_save_all(const struct gate_options *options, struct runner *runner, gate_starter *start,
                   void *context, struct merge_result *result, const volatile int *stop);

#endif
