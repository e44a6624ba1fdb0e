/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_GATE_CASE_MASKS_H
#define CHUNKPROOF_GATE_CASE_MASKS_H

#include "gate/case/recipe.h"

/* Gives a recipe a window, keys ahead and kept keys (WINDOW-1), as far as a kernel takes them: a
 * sum of CP_MASKS_... Some have none. shape: NULL, any. */
void gate_recipe_mask(struct gate_recipe *recipe, int masks, const struct gate_shape *shape);

/* Which of them a recipe has: a sum of CP_MASKS_... */
int gate_recipe_masks(const struct gate_recipe *recipe);

#endif
