/* SPDX-License-Identifier: Apache-2.0 */
/* What an outcome of the runner means for a case. */
#ifndef CHUNKPROOF_GATE_SEARCH_OUTCOME_H
#define CHUNKPROOF_GATE_SEARCH_OUTCOME_H

#include <stdio.h>

#include "gate/judge/finding.h"
#include "gate/runner/runner.h"

/* The finding of a call that came to this outcome; of one that is done, nothing yet. */
void gate_take(const struct run_report *report, struct gate_finding *finding);

/* Says what came before a finding's own text. */
void gate_put_before(struct gate_finding *finding, const char *words);

/* -1, after saying why there is no verdict. */
static inline int gate_no_verdict(const char *text) {
    fprintf(stderr, "chunkproof: %s\n", text[0] != '\0' ? text : "the system gave no reason");
    return -1;
}

#endif
