/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_GATE_RUNNER_MAPS_H
#define CHUNKPROOF_GATE_RUNNER_MAPS_H

#include <sys/types.h>

#include "gate/runner/runner.h"

/* Hashes of all files that a process has mapped, of which one is the kernel. 0, or -1 after writing
 * why not: a file that was replaced after it was loaded has none. */
int run_maps_digest(pid_t process, const char *kernel, struct run_digests *digests,
                    char error[RUN_TEXT]);

#endif
