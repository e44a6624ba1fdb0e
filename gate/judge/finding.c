/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/judge/finding.h"

#include <stdio.h>

_Static_assert(GATE_VERDICTS == 17, "a new verdict needs a name below, or %s prints NULL");

const char *const gate_verdict_names[GATE_VERDICTS] = {
    [GATE_RIGHT] = "right",
    [GATE_WRONG] = "wrong",
    [GATE_DEPENDS] = "depends-on-others",
    [GATE_NOT_A_NUMBER] = "not-a-number",
    [GATE_UNWRITTEN] = "unwritten",
    [GATE_WROTE_BETWEEN] = "wrote-between",
    [GATE_OTHER_BITS] = "other-bits",
    [GATE_REMEMBERS] = "remembers",
    [GATE_FAILED] = "failed",
    [GATE_OUT_OF_BOUNDS] = "out-of-bounds",
    [GATE_WROTE_INPUT] = "wrote-input",
    [GATE_WROTE_LATE] = "wrote-late",
    [GATE_CRASHED] = "crashed",
    [GATE_EXITED] = "exited",
    [GATE_HANGS] = "hangs",
    [GATE_RACES] = "races",
    [GATE_UNDEFINED] = "undefined",
};

const struct gate_finding gate_no_finding = {
    .verdict = GATE_RIGHT, .clause = "", .row = -1, .head = -1, .element = -1};

int gate_is_of_numbers(enum gate_verdict verdict) {
    return verdict == GATE_WRONG || verdict == GATE_DEPENDS || verdict == GATE_NOT_A_NUMBER;
}

void gate_finding_breaks(struct gate_finding *finding, const char *clause) {
    (void)snprintf(finding->clause, sizeof finding->clause, "%s", clause);
}

int gate_claims_few(long long compared, long long unclaimed) {
    return 10 * unclaimed > compared;
}
