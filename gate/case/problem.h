/* SPDX-License-Identifier: Apache-2.0 */
/* A problem: the tree and the plan that a recipe makes, the numbers of Q, K and V, and where each
 * key lies. */
#ifndef CHUNKPROOF_GATE_CASE_PROBLEM_H
#define CHUNKPROOF_GATE_CASE_PROBLEM_H

#include <stddef.h>

#include "chunkproof/kernel.h"
#include "chunkproof/tree.h"
#include "gate/case/recipe.h"

/* All that there is to know of one. */
struct gate_problem {
    struct gate_recipe recipe;
    int q_type, kv_type, out_type, lse_type; /* the kernel's */
    int is_far;                              /* chunks are */
    int b, n_rows, capacity;
    int *n_tokens, *query_begin, *table, *n_shared_chunks;
    int table_width;
    int n_shared;
    struct cp_shared_chunk *shared;
    double scale;
    unsigned long long seed; /* the recipe's, or another one when renewed: of numbers, and of which
                                chunks there are */
    double *q;               /* the numbers in them: [rows][h][d] */
    double *k, *v;           /* [capacity][h_kv][c][d]; NaN where no key is */
};

/* What the operations make, for cp_tree_free(); NULL: no memory. */
struct cp_tree *gate_tree_new(const struct gate_recipe *recipe);

/* All but the numbers, which are gate_values_fill()'s. 0, or -1: no memory. */
int gate_problem_new(struct gate_problem *problem, const struct gate_recipe *recipe,
                     const struct cp_kernel *kernel);
void gate_problem_free(struct gate_problem *problem);

/* Sizes as it might have, made without a tree, to ask a kernel quickly. Nothing to free. */
struct gate_problem gate_problem_guess(const struct gate_recipe *recipe,
                                       const struct cp_kernel *kernel);

/* The same sizes, and other numbers: in the same chunks where there is one operation, or in every
 * other recipe. 0, or -1: no memory. */
int gate_problem_renew(struct gate_problem *problem, const struct gate_recipe *recipe,
                       const struct cp_kernel *kernel);

/* Each sequence has a key more that has room for it in a last chunk of its own, or as many as there
 * is room for: only lengths change (PLAN-6). Numbers are to be filled in anew. Returns whether any
 * has. */
int gate_problem_grow(struct gate_problem *problem);

/* How many keys a sequence of so many has then, after gate_problem_renew(). */
int gate_grown_length(const struct gate_recipe *recipe, int n_tokens);

/* One sequence of it without the others, paged: nothing is shared. K and V are the whole's, which
 * lives longer. 0, or -1: no memory. */
int gate_problem_alone(struct gate_problem *alone, const struct gate_problem *whole, int sequence);
void gate_problem_free_alone(struct gate_problem *alone);

/* Element 0 of a key, in k and v. */
size_t gate_key_at(const struct gate_problem *problem, int sequence, int j, int kv_head);
int gate_sequence_of(const struct gate_problem *problem, int row);
int gate_visible(const struct gate_problem *problem, int row);

#endif
