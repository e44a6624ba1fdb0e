/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/outcome.h"

#include "chunkproof/status.h"

int trace_stop(struct trace_replay *replay, int end) {
    replay->figures->end = end;
    return -1;
}

int trace_is_checking(const struct trace_replay *replay) {
    return replay->settings->check != TRACE_CHECK_NONE;
}

int trace_observe(struct trace_replay *replay) {
    const struct trace_settings *settings = replay->settings;
    if (settings->observe != NULL && settings->observe(settings->context, replay) != 0) {
        return trace_stop(replay, TRACE_INTERRUPTED);
    }
    return 0;
}

int trace_check_status(struct trace_replay *replay, const char *clause, int r, int status,
                       int expected) {
    if (status == expected) {
        return 0;
    }
    trace_violate(&replay->checker, clause, r, "the result is \"%s\" instead of \"%s\"",
                  cp_status_text(status), cp_status_text(expected));
    return trace_stop(replay, TRACE_VIOLATION);
}

int trace_model_step(struct trace_replay *replay) {
    const struct trace_schedule *schedule = &replay->schedule;
    int needed = 0;
    for (int i = 0; i < schedule->n_live; i++) {
        needed += trace_schedule_decodes(schedule, schedule->live[i]) &&
                  trace_model_needs_chunk(&replay->model, schedule->live[i]);
    }
    int expected = trace_expect_append(&replay->checker, needed);
    if (expected != CP_OK) {
        return expected;
    }
    for (int i = 0; i < schedule->n_live; i++) {
        if (trace_schedule_decodes(schedule, schedule->live[i])) {
            trace_model_append(&replay->model, schedule->live[i]);
        }
    }
    replay->checker.structure_changed |= needed > 0;
    return CP_OK;
}
