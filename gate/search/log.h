/* SPDX-License-Identifier: Apache-2.0 */
/* What other projects' acceptance rules (rules.h) say of each case. */
#ifndef CHUNKPROOF_GATE_SEARCH_LOG_H
#define CHUNKPROOF_GATE_SEARCH_LOG_H

#include <stdio.h>

#include "gate/search/result.h"

struct json_t; /* of jansson */

/* Adds a case. 0, or -1: no memory. */
int gate_log_add(struct gate_log *log, const struct gate_entry *entry);

/* Notes which rules reject the case, by its verdict and, where they judged it, by theirs. */
void gate_entry_judge(struct gate_entry *entry, int judged, unsigned rejected);

/* The names of an entry's values, and of its verdict. */
struct gate_log_names {
    const char *const *values;
    const char *(*verdict)(int verdict);
};

/* All cases, and those of the usual test: lines of a report; below, members of a report in JSON
 * (0, or -1: no memory). */
void gate_log_print(FILE *file, const struct gate_log *each, const struct gate_log *usual);
int gate_log_json(struct json_t *report, const struct gate_log *each, const struct gate_log *usual,
                  const struct gate_log_names *names);

#endif
