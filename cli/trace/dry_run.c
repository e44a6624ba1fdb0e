/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/limits.h"
#include "cli/trace/replay.h"

/* Runs one event on the model only. Returns 0, or -1: out of memory. */
static int follow(struct trace_model *model, struct trace_schedule *schedule,
                  const struct trace_event *event) {
    const struct trace *trace = schedule->trace;
    if (event->kind == TRACE_JOIN) {
        if (model->live == CP_MAX_SEQUENCES) {
            trace_schedule_drop(schedule);
            return 0;
        }
        return trace_model_join(model, event->request, trace_blocks(trace, event->request),
                                trace->request[event->request].input_length) < 0
                   ? -1
                   : 0;
    }
    if (event->kind == TRACE_LEAVE) {
        trace_model_leave(model, event->request, trace_blocks(trace, event->request));
        return 0;
    }
    for (int i = 0; i < schedule->n_live; i++) {
        if (trace_schedule_decodes(schedule, schedule->live[i])) {
            trace_model_append(model, schedule->live[i]);
        }
    }
    return 0;
}

int trace_needed_chunks(const struct trace *trace, const struct trace_settings *settings,
                        long long *needed) {
    struct trace_model model;
    struct trace_schedule schedule;
    struct trace_event event;
    int result = 0;
    *needed = 0;
    if (trace_model_init(&model, trace->block_size, trace->n_requests) != 0) {
        return -1;
    }
    if (trace_schedule_init(&schedule, trace, settings->ms_per_token, settings->retain) != 0) {
        trace_model_free(&model);
        return -1;
    }
    while (result == 0 && (event = trace_schedule_next(&schedule)).kind != TRACE_END) {
        result = follow(&model, &schedule, &event);
        if (trace_model_used(&model) > *needed) {
            *needed = trace_model_used(&model);
        }
    }
    trace_schedule_free(&schedule);
    trace_model_free(&model);
    return result;
}
