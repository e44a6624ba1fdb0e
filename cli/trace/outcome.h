/* SPDX-License-Identifier: Apache-2.0 */
/* What the operations on both trees share: how a replay ends, and what the model expects. */
#ifndef CHUNKPROOF_CLI_TRACE_OUTCOME_H
#define CHUNKPROOF_CLI_TRACE_OUTCOME_H

#include "cli/trace/replay.h"

/* Ends the replay: -1. */
int trace_stop(struct trace_replay *replay, int end);

int trace_is_checking(const struct trace_replay *replay);

/* Returns 0, or -1 when the observer ends the replay. */
int trace_observe(struct trace_replay *replay);

/* The status must be the expected one. */
int trace_check_status(struct trace_replay *replay, const char *clause, int r, int status,
                       int expected);

/* The status that the model expects of a decoding step; on CP_OK the model has the tokens too. */
int trace_model_step(struct trace_replay *replay);

#endif
