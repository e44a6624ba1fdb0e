/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */

#include "gate/report/suite.h"

#include <stdlib.h>
#include <time.h>

enum gate_outcome gate_suite_outcome(long long cases, long long wrong, int claims_few,
                                     long long all_cases, int has_verdict) {
    return wrong > 0                                        ? GATE_FAILURE
           : !has_verdict && (all_cases == 0 || claims_few) ? GATE_ERROR
           : cases == 0                                     ? GATE_SKIPPED
                                                            : GATE_PASSED;
}

void gate_suite_begin(struct markup *m, const char *kernel, const int n[GATE_OUTCOMES],
                      double seconds) {
    struct tm utc;
    char when[32] = "";
    time_t began = time(NULL) - (time_t)seconds;
    if (gmtime_r(&began, &utc) != NULL) {
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    markup_begin(m);
    markup_raw(m, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    markup_open(m, "testsuite");
    markup_attribute(m, "name", "chunkproof gate: %s", kernel);
    markup_attribute(m, "tests", "%d",
                     n[GATE_PASSED] + n[GATE_FAILURE] + n[GATE_ERROR] + n[GATE_SKIPPED]);
    markup_attribute(m, "failures", "%d", n[GATE_FAILURE]);
    markup_attribute(m, "errors", "%d", n[GATE_ERROR]);
    markup_attribute(m, "skipped", "%d", n[GATE_SKIPPED]);
    markup_attribute(m, "time", "%.3f", seconds);
    markup_attribute(m, "timestamp", "%s", when);
    markup_newline(m);
}

void gate_suite_property(struct markup *m, const char *name, const char *value) {
    markup_open(m, "property");
    markup_attribute(m, "name", "%s", name);
    markup_attribute(m, "value", "%s", value);
    markup_close(m);
    markup_newline(m);
}

void gate_suite_own_property(struct markup *m, const char *name, char *value) {
    if (value != NULL) {
        gate_suite_property(m, name, value);
    }
    free(value);
}

void gate_suite_open_case(struct markup *m, const char *kernel, const char *name, double seconds) {
    markup_open(m, "testcase");
    markup_attribute(m, "classname", "gate.%s", kernel);
    markup_attribute(m, "name", "%s", name);
    markup_attribute(m, "time", "%.3f", seconds);
}

static void put_message(struct markup *m, const char *element, const char *message) {
    markup_open(m, element);
    markup_attribute(m, "message", "%s", message);
    markup_close(m);
}

void gate_suite_message(struct markup *m, enum gate_outcome outcome, const char *no_answer,
                        int interrupted) {
    if (outcome == GATE_ERROR) {
        put_message(m, "error", no_answer);
    } else if (outcome == GATE_SKIPPED) {
        put_message(m, "skipped",
                    interrupted ? "interrupted before a case with these values"
                                : "no case with these values");
    }
}

void gate_suite_line(struct markup *m, const char *head, char *text) {
    if (text != NULL) {
        markup_text(m, "%s%s", head, text);
        markup_newline(m);
    }
    free(text);
}
