/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/judge/finding.h"

#include <stdio.h>

const char *const gate_verdict_names[GATE_VERDICTS] = {
    "right",         "wrong",      "depends-on-others", "not-a-number", "unwritten",
    "wrote-between", "other-bits", "remembers",         "failed",       "out-of-bounds",
    "wrote-input",   "wrote-late", "crashed",           "exited",       "hangs",
    "races",         "undefined"};

const struct gate_finding gate_no_finding = {
    .verdict = GATE_RIGHT, .clause = "", .row = -1, .head = -1, .element = -1};

void gate_finding_breaks(struct gate_finding *finding, const char *clause) {
    (void)snprintf(finding->clause, sizeof finding->clause, "%s", clause);
}

int gate_claims_few(long long compared, long long unclaimed) {
    return 10 * unclaimed > compared;
}
