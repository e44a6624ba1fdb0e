/* SPDX-License-Identifier: Apache-2.0 */
/* From a kernel's file to a process that has loaded it. */
#ifndef CHUNKPROOF_GATE_START_H
#define CHUNKPROOF_GATE_START_H

#include "gate/runner/runner.h"
#include "gate/search/options.h"

/* Starts an object in a process of its own. NULL after a message. */
struct runner *gate_start_object(const struct gate_options *options,
                                 const struct gate_object *object);

/* Starts the kernel in its process. The caller frees its object. 0, or -1 after a message. */
int gate_start(const struct gate_options *options, struct gate_object *object,
               struct runner **runner);

#endif
