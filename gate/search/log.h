/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules of others say of each case (rules.h). */
#ifndef CHUNKPROOF_GATE_SEARCH_LOG_H
#define CHUNKPROOF_GATE_SEARCH_LOG_H

#include <stdio.h>

#include "gate/search/result.h"

struct json_t; /* of jansson */

/* What the rules of others say of the cases: lines of a report, and members of one in JSON (0, or
 * -1: no memory). */
int gate_log_add(struct gate_log *log, const struct gate_entry *entry); /* 0, or -1: no memory */
void gate_log_print(FILE *file, const struct gate_result *result);
int gate_log_json(struct json_t *report, const struct gate_result *result);

#endif
