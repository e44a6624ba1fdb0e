/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes with modules, and the prompts that these make. */
#ifndef CHUNKPROOF_GATE_CASE_PROMPTS_H
#define CHUNKPROOF_GATE_CASE_PROMPTS_H

#include "gate/case/recipe.h"

/* A text of a prompt, at its position: a module, or new tokens (-1). */
struct gate_text {
    int module, tokens, position;
};

#define GATE_MOST_TEXTS (2 * GATE_MOST_MODULES + 2)

/* Its texts by rising position, which take no position twice (MOD-2, MOD-6). */
struct gate_prompt {
    int n_tokens, n_texts;
    struct gate_text text[GATE_MOST_TEXTS];
};

/* 1: a text of the prompt is that module. */
int gate_prompt_has(const struct gate_prompt *prompt, int module);

struct gate_prompts {
    int n;
    struct gate_prompt prompt[];
};

/* The prompts of a recipe with modules: those of its operations; and others that have any modules,
 * or fewer prompts, until there are as many as `sequences` says. At least one. The caller frees
 * them with free(). NULL: no memory. */
struct gate_prompts *gate_prompts_new(const struct gate_recipe *recipe);

/* 1: no prompt of the recipe has more keys than the tolerance is computed for. */
int gate_prompts_fit(const struct gate_recipe *recipe);

/* Gives a recipe modules instead of a tree, for a kernel that takes plans of runs: about as many
 * sequences and keys. Where the caller wants a number of keys, the longest sequence has so many.
 * A recipe that is to have slopes has them before (gate_recipe_scores()). */
void gate_recipe_to_modules(struct gate_recipe *recipe, const struct gate_shape *shape);

/* 1: module m has the text of the one before it, if keys are rotated (GATE-14). */
int gate_is_alike(const struct gate_recipe *recipe, int m);

/* The kinds of values whose keys have an order, by rising position. */
int gate_values_have_order(enum gate_values values);

/* Does case `index` have modules, for a kernel that takes such plans? */
int gate_has_modules(int plans, long long index);

#endif
