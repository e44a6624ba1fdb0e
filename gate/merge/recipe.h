/* SPDX-License-Identifier: Apache-2.0 */
/* From a seed and a number to the sizes of a case of a kernel that merges (MERGING-10). */
#ifndef CHUNKPROOF_GATE_MERGE_RECIPE_H
#define CHUNKPROOF_GATE_MERGE_RECIPE_H

#include "chunkproof/merge_kernel.h"

enum merge_values {
    MERGE_COUNT,
    MERGE_SELECT,
    MERGE_NORMAL,
    MERGE_EQUAL,
    MERGE_LIGHT,
    MERGE_LOW,
    MERGE_HIGH,
    MERGE_RISING,
    MERGE_FALLING,
    MERGE_EMPTY,
    MERGE_MANY,
    MERGE_APART,
    MERGE_VALUES
};

extern const char *const merge_values_names[MERGE_VALUES + 1]; /* ends with NULL */
extern const char *const merge_values_words[MERGE_VALUES];     /* what they show */

struct merge_recipe {
    unsigned long long seed; /* of the numbers */
    enum merge_values values;
    int n_parts, n_rows, n_heads, head_dim;
    int empties;   /* 1: some parts have no key */
    int o, l, lse; /* orders: CP_O_ORDER_..., never ANY */
    int gaps;      /* 1: between all that has gaps */
    int asks_lse;  /* 0: lse is NULL */
    int renewed;   /* 1: runs again with other numbers of the same sizes */
};

/* The sizes of case `index` of a seed; another attempt has others. d: the only one, or 0: any.
 * `work` limits rows times heads times parts times d. */
void merge_recipe_make(struct merge_recipe *recipe, const struct cp_merge_kernel *kernel,
                       unsigned long long seed, long long index, int attempt, int d, int work);

/* The usual test of a kernel that merges, as most published ones do it: normal values, no gaps, and
 * a key in each part. Its sizes are those of i, as near as the kernel's rows may have them. */
#define MERGE_USUAL 4
void merge_usual_recipe(struct merge_recipe *recipe, const struct cp_merge_kernel *kernel, int i);

/* What of a recipe no call of the kernel has, as a case may that was kept for another kernel:
 * "layout.o excludes: another order of outputs", behind the symbol; NULL: nothing. */
const char *merge_recipe_excluded(const struct merge_recipe *recipe,
                                  const struct cp_merge_kernel *kernel);

/* The recipe in one line, for people. */
#define MERGE_LINE 320
void merge_recipe_print(const struct merge_recipe *recipe, char line[MERGE_LINE]);

/* Sizes of cases are not larger: those of recipes are far smaller. */
#define MERGE_MOST_ROWS  65536
#define MERGE_MOST_HEADS 1024
#define MERGE_MOST_DIM   4096

/* From least to most, both in range: how many parts a row of the kernel's calls may have. */
int merge_least_parts(const struct cp_merge_kernel *kernel);
int merge_most_parts(const struct cp_merge_kernel *kernel);

#endif
