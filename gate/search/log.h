/* SPDX-License-Identifier: Apache-2.0 */
/* What other projects' acceptance rules (rules.h) say of each case. */
#ifndef CHUNKPROOF_GATE_SEARCH_LOG_H
#define CHUNKPROOF_GATE_SEARCH_LOG_H

#include <stdio.h>

#include "gate/search/result.h"

struct json_t; /* of jansson */

/* Adds a case. 0, or -1: no memory. */
int gate_log_add(struct gate_log *log, const struct gate_entry *entry);

/* Lines of a report; below, members of a report in JSON (0, or -1: no memory). */
void gate_log_print(FILE *file, const struct gate_result *result);
int gate_log_json(struct json_t *report, const struct gate_result *result);

#endif
