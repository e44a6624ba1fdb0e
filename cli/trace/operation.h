/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one event of a replay: the operation on the tree, its figures, its checks. */
#ifndef CHUNKPROOF_CLI_TRACE_OPERATION_H
#define CHUNKPROOF_CLI_TRACE_OPERATION_H

#include "cli/trace/replay.h"

/* Returns 0, or -1 when the replay is over; replay->figures->end then says why. */
int trace_run_event(struct trace_replay *replay, struct trace_event event);

#endif
