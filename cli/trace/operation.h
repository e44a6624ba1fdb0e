/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one event of a replay: the operation on the tree, its figures, its checks. */
#ifndef CHUNKPROOF_CLI_TRACE_OPERATION_H
#define CHUNKPROOF_CLI_TRACE_OPERATION_H

#include "cli/trace/replay.h"

/* Returns 0, or -1 when the replay is over; replay->figures->end then says why. */
int trace_run_event(struct trace_replay *replay, struct trace_event event);

/* The same on the tree of opt/ (opt_operation.c). */
int trace_run_opt_event(struct trace_replay *replay, struct trace_event event);

/* ---- What both use ---- */

/* Ends the replay and returns -1. */
int trace_stop(struct trace_replay *replay, int end);

int trace_is_checking(const struct trace_replay *replay);

/* Returns 0, or -1 when the observer ends the replay. */
int trace_observe(struct trace_replay *replay);

/* Checks that the status is the expected one. */
int trace_check_status(struct trace_replay *replay, const char *clause, int r, int status,
                       int expected);

/* The status that the model expects of a decoding step. On CP_OK the model then has the tokens,
 * too. */
int trace_model_step(struct trace_replay *replay);

#endif
