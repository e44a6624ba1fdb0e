/* SPDX-License-Identifier: Apache-2.0 */
/* A case as a file, and a recipe as JSON. */
#ifndef CHUNKPROOF_GATE_SEARCH_CASE_FILE_H
#define CHUNKPROOF_GATE_SEARCH_CASE_FILE_H

#include <jansson.h>

#include "gate/search/result.h"

/* A case as a file: JSON, a few lines. 0, or -1 after saying what is wrong, and where; `command` says it. */
int gate_case_save(const char *file, const struct gate_found *found,
                   const struct cp_kernel *kernel);
int gate_case_load(const char *file, const char *command, struct gate_recipe *recipe);

/* The case that has to be run before it, of a file that was loaded: 1; 0 there is none, -1 after saying what is wrong. */
int gate_case_before(const char *file, const char *command, struct gate_recipe *before);

/* A recipe as JSON, for files of cases and for reports; NULL: no memory. */
json_t *gate_recipe_json(const struct gate_recipe *recipe);

#endif
