/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps a kernel's process from touching anything else, as far as the system has it. */
#ifndef CHUNKPROOF_GATE_RUNNER_CONTAIN_H
#define CHUNKPROOF_GATE_RUNNER_CONTAIN_H

#include "gate/runner/runner.h"

/* To be called in the kernel's process before it loads the kernel: from then on neither it nor what
 * it starts can get more rights. Returns bits of enum run_contained. */
unsigned run_contain(void);

/* May the kernel change files, because the environment says so ($CHUNKPROOF_LANDLOCK is "off")? */
int run_contain_is_left_out(void);

#endif
