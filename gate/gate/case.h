/* SPDX-License-Identifier: Apache-2.0 */
/* A recipe in JSON, for files of cases and for reports. */
#ifndef CHUNKPROOF_GATE_CASE_H
#define CHUNKPROOF_GATE_CASE_H

#include <jansson.h>

#include "gate/gate/gate.h"

json_t *gate_recipe_json(const struct gate_recipe *recipe);

#endif
