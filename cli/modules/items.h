/* SPDX-License-Identifier: Apache-2.0 */
/* What a cache of modules holds (CACHE-1). */
#ifndef CHUNKPROOF_CLI_MODULES_ITEMS_H
#define CHUNKPROOF_CLI_MODULES_ITEMS_H

#include "cli/prompt/pml.h"

/* A module's own text, encoded alone or where a scaffold counts. */
struct modules_item {
    int module;
    int scaffold;    /* that counts for the module, or -1 */
    int tokens;      /* 1 or more */
    long long pairs; /* of one of these tokens and a token that it sees (MOD-3), itself included */
};

struct modules_items {
    const struct pml_schema *schema; /* the caller's */
    int n;
    struct modules_item *item;
    int *first; /* [n_parts + 1]: the items of module x are first[x] .. first[x + 1] - 1 */
};

/* All items of a schema, in the order of modules. The caller frees them, before the schema. */
void modules_items_build(struct modules_items *items, const struct pml_schema *schema);
void modules_items_free(struct modules_items *items);

/* The item of a module where this scaffold counts; -1: the module has no text of its own. */
int modules_item_find(const struct modules_items *items, int module, int scaffold);

#endif
