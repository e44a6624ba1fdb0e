/* SPDX-License-Identifier: Apache-2.0 */
/* The question of a case, and its numbers: parts of each row and head, in the kernel's types. */
#ifndef CHUNKPROOF_GATE_MERGE_PROBLEM_H
#define CHUNKPROOF_GATE_MERGE_PROBLEM_H

#include <stddef.h>

#include "gate/merge/recipe.h"

/* Part p of row r is number begin[r] + p of all. */
struct merge_problem {
    struct merge_recipe recipe;
    const struct cp_merge_kernel *kernel;
    int *begin; /* [n_rows + 1] */
    /* Numbers of the kernel's types. Where a part has no key, o is what a kernel has to ignore. */
    double *o; /* [part of all][head][d] */
    double *l; /* [part of all][head] */
    /* Where parts are given by sums (`form`; else NULL): o and l are what the parts finish to. */
    double *m, *n; /* [part of all][head] */
};

/* The problem of a recipe, whose numbers merge_values_fill() writes (values.h). 0, or -1: no
 * memory, and nothing to free. */
int merge_problem_new(struct merge_problem *problem, const struct merge_recipe *recipe,
                      const struct cp_merge_kernel *kernel);

/* Of one row and head of another problem, the parts in list[0 .. n-1], in this order (MERGING-2):
 * -1 is one more part without keys, and MERGE_CLEANED - i part i with zeros as its output. The new
 * problem has one row and one head. As above. */
#define MERGE_CLEANED (-2)
int merge_problem_alone(struct merge_problem *problem, const struct merge_problem *whole, int row,
                        int head, const int *list, int n);
void merge_problem_free(struct merge_problem *problem);

int merge_parts_of(const struct merge_problem *problem, int row);
const double *merge_o_of(const struct merge_problem *problem, int row, int part, int head);
double merge_l_of(const struct merge_problem *problem, int row, int part, int head);

/* The same of a part that is given by sums; of any other l, and 1 or 0. */
double merge_m_of(const struct merge_problem *problem, int row, int part, int head);
double merge_n_of(const struct merge_problem *problem, int row, int part, int head);

/* Does a part of the row and head have a key? */
int merge_has_keys(const struct merge_problem *problem, int row, int head);

/* The types of a part's output and log-sum-exp: in place part 0 lies where the results do. */
int merge_o_type(const struct cp_merge_kernel *kernel, int part);
int merge_l_type(const struct cp_merge_kernel *kernel, int part);

#endif
