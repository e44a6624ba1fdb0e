/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when: iteration-based batching. Iteration i takes place at i * ms_per_token, when a
 * request is waiting or alive; idle time is skipped. In it, first the requests that have arrived
 * join, in order; then every live sequence that has completion tokens to come gets one, all
 * together; then those leave that have all of theirs. So a request with n >= 1 completion tokens is
 * alive for n iterations, and one with none for 1. With `retain`, requests join as they arrive and
 * nothing else happens. */
#ifndef CHUNKPROOF_CLI_TRACE_SCHEDULE_H
#define CHUNKPROOF_CLI_TRACE_SCHEDULE_H

#include "cli/trace/data.h"

#define TRACE_END    0
#define TRACE_JOIN   1 /* of event.request; if it is rejected, call trace_schedule_drop() */
#define TRACE_DECODE 2 /* every live r with trace_schedule_decodes() gets a token */
#define TRACE_LEAVE  3 /* of event.request */

struct trace_event {
    int kind;
    int request; /* -1 for TRACE_DECODE and TRACE_END */
};

struct trace_schedule {
    const struct trace *trace;
    long long ms_per_token;
    int retain;
    long long iteration;
    int next;  /* request that has not joined yet */
    int *live; /* in order of arrival */
    int *made; /* completion tokens made, per request */
    int n_live;
    int looked; /* TRACE_LEAVE: live[0 .. looked) stay */
    int phase;
};

/* Returns 0, or -1 when there is no memory. */
int trace_schedule_init(struct trace_schedule *schedule, const struct trace *trace,
                        long long ms_per_token, int retain);
void trace_schedule_free(struct trace_schedule *schedule);

/* The next event. */
struct trace_event trace_schedule_next(struct trace_schedule *schedule);

/* The request of the last event, a TRACE_JOIN, did not get in and is gone. */
void trace_schedule_drop(struct trace_schedule *schedule);

/* During a TRACE_DECODE: does r, which is alive, get a token? */
int trace_schedule_decodes(const struct trace_schedule *schedule, int r);

/* Its place among the tokens of r, 0 for the first one of the prompt. */
int trace_schedule_place(const struct trace_schedule *schedule, int r);

#endif
