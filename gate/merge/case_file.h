/* SPDX-License-Identifier: Apache-2.0 */
/* A case of a kernel that merges as a file (MERGING-11): spec/gate-merging-case.schema.json. */
#ifndef CHUNKPROOF_GATE_MERGE_CASE_FILE_H
#define CHUNKPROOF_GATE_MERGE_CASE_FILE_H

#include <jansson.h>

#include "gate/merge/result.h"
#include "gate/search/json_cases.h"

#define MERGE_CASE_FORMAT "chunkproof merging case 1"

/* Writes a case as a file. 0, or -1 after saying what is wrong. */
int merge_case_save(const char *file, const struct merge_found *found,
                    const struct cp_merge_kernel *kernel);

/* A case from a file, and the case that has to run before it. */
struct merge_case {
    struct merge_recipe recipe, before;
    int has_before;
    int other_bits; /* 1: that is its verdict, perhaps only in another process */
    int line;       /* the line of the file where the case begins; 0: the file has one case */
};

/* Reads one case, whose fields are zeros before. 0, or -1 after saying what is wrong. */
int merge_case_read(struct gate_fields *in, const json_t *json, struct merge_case *one);

/* Reads all cases of a file, in order. Returns their number, at least 1; or -1 after saying what is
 * wrong and where, in the name of `command`. The caller frees `cases`. */
int merge_case_load(const char *file, const char *command, struct merge_case **cases);

/* A recipe as JSON; NULL: no memory. */
json_t *merge_recipe_json(const struct merge_recipe *recipe);

#endif
