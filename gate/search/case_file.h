/* SPDX-License-Identifier: Apache-2.0 */
/* A case as a file, and a recipe as JSON. */
#ifndef CHUNKPROOF_GATE_SEARCH_CASE_FILE_H
#define CHUNKPROOF_GATE_SEARCH_CASE_FILE_H

#include <jansson.h>

#include "gate/search/json_cases.h"
#include "gate/search/result.h"

/* Writes a case as a file: JSON, a few lines. 0, or -1 after saying what is wrong. */
int gate_case_save(const char *file, const struct gate_found *found,
                   const struct cp_kernel *kernel);

/* A case from a file, and the case that has to run before it. */
struct gate_case {
    struct gate_recipe recipe, before;
    int has_before;
    int other_bits; /* 1: that is its verdict, perhaps only in another process */
    int line;       /* the line of the file where the case begins; 0: the file has one case */
};

/* Reads one case, whose fields are zeros before. 0, or -1 after saying what is wrong. */
int gate_case_read(struct gate_fields *in, const json_t *json, struct gate_case *one);

/* Reads all cases of a file, in order. Returns their number, at least 1; or -1 after saying what is
 * wrong and where, in the name of `command`. The caller frees `cases`. */
int gate_case_load(const char *file, const char *command, struct gate_case **cases);

/* A recipe as JSON, for files of cases and for reports; NULL: no memory. */
json_t *gate_recipe_json(const struct gate_recipe *recipe);

#endif
