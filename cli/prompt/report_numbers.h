/* SPDX-License-Identifier: Apache-2.0 */
/* What the JSON of a report is made of. NULL: there is no memory. */
#ifndef CHUNKPROOF_CLI_PROMPT_REPORT_NUMBERS_H
#define CHUNKPROOF_CLI_PROMPT_REPORT_NUMBERS_H

#include <jansson.h>

#include "cli/prompt/report.h"

json_t *report_answer_json(const struct prompt_answer *answer);

#endif
