/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/schedule.h"

#include <stdlib.h>
#include <string.h>

int trace_schedule_init(struct trace_schedule *schedule, const struct trace *trace,
                        long long ms_per_token, int retain) {
    size_t n = (size_t)trace->n_requests + 1;
    memset(schedule, 0, sizeof *schedule);
    schedule->trace = trace;
    schedule->ms_per_token = ms_per_token;
    schedule->retain = retain;
    schedule->phase = TRACE_JOIN;
    schedule->live = calloc(n, sizeof *schedule->live);
    schedule->made = calloc(n, sizeof *schedule->made);
    if (schedule->live == NULL || schedule->made == NULL) {
        trace_schedule_free(schedule);
        return -1;
    }
    return 0;
}

void trace_schedule_free(struct trace_schedule *schedule) {
    free(schedule->live);
    free(schedule->made);
    schedule->live = NULL;
    schedule->made = NULL;
}

/* The first iteration that is not before the arrival of request r. */
static long long iteration_of(const struct trace_schedule *schedule, int r) {
    long long arrival = schedule->trace->request[r].arrival;
    return arrival / schedule->ms_per_token + (arrival % schedule->ms_per_token > 0);
}

/* Is a request due to join now? Skips idle time. */
static int is_due(struct trace_schedule *schedule) {
    if (schedule->next == schedule->trace->n_requests) {
        return 0;
    }
    if (schedule->retain) {
        return 1;
    }
    long long due = iteration_of(schedule, schedule->next);
    if (schedule->n_live == 0 && due > schedule->iteration) {
        schedule->iteration = due;
    }
    return due <= schedule->iteration;
}

static int has_all(const struct trace_schedule *schedule, int r) {
    return schedule->made[r] == schedule->trace->request[r].output_length;
}

/* The end of a TRACE_DECODE: its tokens are made. */
static void count_tokens(struct trace_schedule *schedule) {
    for (int i = 0; i < schedule->n_live; i++) {
        schedule->made[schedule->live[i]] += !has_all(schedule, schedule->live[i]);
    }
    schedule->phase = TRACE_LEAVE;
    schedule->looked = 0;
}

/* Takes the next sequence that has all its tokens off the live ones, or returns -1. */
static int next_leaver(struct trace_schedule *schedule) {
    while (schedule->looked < schedule->n_live) {
        int r = schedule->live[schedule->looked];
        if (has_all(schedule, r)) {
            schedule->n_live--;
            memmove(&schedule->live[schedule->looked], &schedule->live[schedule->looked + 1],
                    (size_t)(schedule->n_live - schedule->looked) * sizeof *schedule->live);
            return r;
        }
        schedule->looked++;
    }
    return -1;
}

struct trace_event trace_schedule_next(struct trace_schedule *schedule) {
    struct trace_event event = {TRACE_END, -1};
    if (schedule->phase == TRACE_DECODE) {
        count_tokens(schedule);
    }
    if (schedule->phase == TRACE_LEAVE) {
        event.request = next_leaver(schedule);
        if (event.request >= 0) {
            event.kind = TRACE_LEAVE;
            return event;
        }
        schedule->phase = TRACE_JOIN;
        schedule->iteration++;
    }
    if (is_due(schedule)) {
        event.kind = TRACE_JOIN;
        event.request = schedule->next++;
        schedule->live[schedule->n_live++] = event.request;
    } else if (schedule->n_live > 0 && !schedule->retain) {
        event.kind = TRACE_DECODE;
        schedule->phase = TRACE_DECODE;
    }
    return event;
}

void trace_schedule_drop(struct trace_schedule *schedule) {
    schedule->n_live--;
}

int trace_schedule_decodes(const struct trace_schedule *schedule, int r) {
    return !has_all(schedule, r);
}

int trace_schedule_place(const struct trace_schedule *schedule, int r) {
    return schedule->trace->request[r].input_length + schedule->made[r];
}
