/* SPDX-License-Identifier: Apache-2.0 */
/* Other cases: what makes the explained one right must make them right, too. */
#include "gate/case/masks.h"
#include "gate/case/pages.h"
#include "gate/case/prompts.h"
#include "gate/case/rotation.h"
#include "gate/case/scores.h"
#include "gate/explain/explain.h"

#define OTHERS           24
#define OTHERS_SIMULATED 6
#define MOST_TRIED       60 /* cases that are made: the kernel may refuse some */

void explain_make_other(const struct explain *x, unsigned long long seed, int i,
                        struct gate_recipe *recipe) {
    gate_recipe_make(recipe, seed, i, 0, GATE_SMALL_WORK, NULL);
    gate_recipe_scores(recipe, x->kernel->scores);
    if (gate_has_modules(x->kernel->plans, i)) {
        gate_recipe_to_modules(recipe, NULL);
    }
    if (x->kernel->keys != CP_KEYS_PLACED) {
        gate_recipe_rotate(recipe, 0, NULL);
    }
    gate_recipe_mask(recipe, x->kernel->masks, NULL);
    gate_recipe_pages(recipe, &runner_kernel(x->runner)->layout);
    recipe->renewed = recipe->without_lse = 0;
    recipe->queries = i % 2 == 0 ? GATE_MORE : recipe->queries;
}

int explain_right_others(const struct explain *x, unsigned long long seed, explain_trial *trial,
                         void *context) {
    int cases = runner_is_simulated(x->runner) ? OTHERS_SIMULATED : OTHERS, n = 0;
    for (int i = 0; i < MOST_TRIED && n < cases; i++) {
        struct gate_recipe other;
        explain_make_other(x, seed, i, &other);
        int right = explain_is_over(x, 0.0) ? 0 : trial(x, &other, context);
        if (right == 0) {
            return 0;
        }
        n += right > 0;
    }
    return n == cases ? n : 0;
}
