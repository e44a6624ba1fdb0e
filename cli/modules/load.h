/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas that are made up, and prompts that are drawn (CACHE-6). */
#ifndef CHUNKPROOF_CLI_MODULES_LOAD_H
#define CHUNKPROOF_CLI_MODULES_LOAD_H

#include "cli/base/random.h"
#include "cli/modules/options.h"
#include "cli/prompt/pml.h"

/* Writes a schema that is made up, as a file of PML. */
void modules_schema_make(const struct modules_made *made, unsigned long long seed, FILE *out);

/* Draws prompts. */
struct modules_drawing {
    const struct pml_schema *schema; /* the caller's */
    struct prng random;
    int imports; /* draws for a prompt */
    int n;       /* modules that can be drawn, in the order of the schema */
    int *module;
    unsigned long long *until; /* their weights, summed up */
    int *imported;             /* [n_parts]: 1 for what the prompt imports */
    int *argument;             /* [n_parts]: tokens of a param's argument */
    int *member;               /* [n_parts]: of a union, the member that is imported, or 0 */
    int dropped;               /* draws that the members of a union excluded, of this prompt */
};

void modules_drawing_new(struct modules_drawing *drawing, const struct pml_schema *schema,
                         int imports, double zipf, unsigned long long seed);
void modules_drawing_free(struct modules_drawing *drawing);

/* The next prompt: writes imported[], argument[] and dropped. */
void modules_draw(struct modules_drawing *drawing);

#endif
