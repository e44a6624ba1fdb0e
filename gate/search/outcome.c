/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/outcome.h"

#include <stdio.h>
#include <string.h>

static enum gate_verdict verdict_of(enum run_outcome outcome) {
    static const enum gate_verdict verdicts[RUN_OUTCOMES] = {
        [RUN_DONE] = GATE_RIGHT,
        [RUN_RETURNED] = GATE_FAILED,
        [RUN_OUT_OF_BOUNDS] = GATE_OUT_OF_BOUNDS,
        [RUN_WROTE_INPUT] = GATE_WROTE_INPUT,
        [RUN_WROTE_BESIDE] = GATE_OUT_OF_BOUNDS,
        [RUN_WROTE_LATE] = GATE_WROTE_LATE,
        [RUN_SIGNAL] = GATE_CRASHED,
        [RUN_EXITED] = GATE_EXITED,
        [RUN_TIMED_OUT] = GATE_HANGS,
        [RUN_RACED] = GATE_RACES,
        [RUN_UNDEFINED] = GATE_UNDEFINED,
    };
    return verdicts[outcome];
}
_Static_assert(RUN_OUTCOMES == 11, "a new outcome needs a verdict above, or it counts as right");

/* GATE-3 is about memory; GATE-1 requires attend() to return 0. */
static const char *clause_of(enum run_outcome outcome) {
    return outcome == RUN_DONE ? ""
           : outcome == RUN_OUT_OF_BOUNDS || outcome == RUN_WROTE_INPUT ||
                   outcome == RUN_WROTE_BESIDE || outcome == RUN_WROTE_LATE
               ? "GATE-3"
               : "GATE-1";
}

void gate_take(const struct run_report *report, struct gate_finding *finding) {
    *finding = gate_no_finding;
    finding->verdict = verdict_of(report->outcome);
    gate_finding_breaks(finding, clause_of(report->outcome));
    (void)snprintf(finding->text, sizeof finding->text, "%s", report->text);
}

void gate_put_before(struct gate_finding *f, const char *words) {
    char text[sizeof f->text];
    (void)snprintf(text, sizeof text, "%s%.200s", words, f->text);
    memcpy(f->text, text, sizeof text);
}
