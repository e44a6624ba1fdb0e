/* SPDX-License-Identifier: Apache-2.0 */
/* The tree and its naive model (tests/model.h), under the operations of an input. After each
 * operation both must have given the same answer and be equal. A failed operation must have changed
 * nothing (TREE-13), and the stamp must have counted what changed (PLAN-5). A violation ends the
 * program (fuzz_fail()). */
#ifndef CHUNKPROOF_FUZZ_WORLD_H
#define CHUNKPROOF_FUZZ_WORLD_H

#include "chunkproof/plan.h"
#include "chunkproof/tree.h"
#include "fuzz/format.h"
#include "tests/attend_case.h"
#include "tests/model.h"

struct world {
    struct cp_tree *tree;
    struct model *model;
};

void world_new(struct world *world, const struct format_problem *problem);
void world_free(struct world *world);

/* Applies one operation on the tree; any other operation has no effect here. */
void world_apply(struct world *world, const struct format_operation *operation);

/* All operations of an input, on a new world. */
void world_grow(struct world *world, const struct format_input *input);

/* A plan of the tree, which the caller frees. */
struct cp_plan *world_plan(const struct world *world);

/* The input's problem over a plan of its tree, with all types as the input says, for
 * case_make_of(). */
struct shape world_shape(const struct format_problem *problem);

#endif
