/* SPDX-License-Identifier: Apache-2.0 */
/* A recipe in JSON, for files of cases and for reports. */
#ifndef CHUNKPROOF_GATE_SEARCH_CASE_FILE_H
#define CHUNKPROOF_GATE_SEARCH_CASE_FILE_H

#include <jansson.h>

#include "gate/gate.h"

json_t *gate_recipe_json(const struct gate_recipe *recipe);

#endif
