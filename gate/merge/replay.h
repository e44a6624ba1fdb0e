/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof replay` and `chunkproof explain` on a case of a kernel that merges. */
#ifndef CHUNKPROOF_GATE_MERGE_REPLAY_H
#define CHUNKPROOF_GATE_MERGE_REPLAY_H

#include "gate/merge/case_file.h"
#include "gate/merge/check.h"

/* Runs a case, after the one before it if there is one, and explains it if the options say so: what
 * that finds goes to `out`. 1: it ran; 0: the kernel does not take it, with the reason in the
 * finding's text; -1: no verdict, after a message. */
int merge_replay(FILE *out, const struct gate_options *options, struct runner *runner,
                 const struct merge_case *one, const volatile int *stop,
                 struct merge_finding *finding);

#endif
