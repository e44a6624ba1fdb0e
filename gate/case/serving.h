/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes with the sizes of a server (GATE-10). */
#ifndef CHUNKPROOF_GATE_CASE_SERVING_H
#define CHUNKPROOF_GATE_CASE_SERVING_H

#include "cli/base/random.h"
#include "gate/case/recipe.h"

enum gate_serving {
    GATE_CROWD,   /* hundreds of sequences */
    GATE_POOLED,  /* few chunks of a large pool */
    GATE_HEADS,   /* dozens of K/V heads */
    GATE_PREFILL, /* hundreds of query rows of a sequence */
    GATE_PATH,    /* more than 1,024 chunks of a sequence */
    GATE_BATCH,   /* many sequences and heads in a large pool */
    GATE_SERVINGS
};

/* Makes the n-th such recipe, of kind n % GATE_SERVINGS. */
void gate_recipe_serve(struct gate_recipe *recipe, struct prng *random, long long n,
                       long long work);

/* The same for less work than GATE_SERVING_WORK, as on the executor: one size is large, and all
 * others are small. `attempt` is one of those of gate_recipe_make(). */
void gate_recipe_serve_few(struct gate_recipe *recipe, struct prng *random, long long n,
                           int attempt);

#endif
