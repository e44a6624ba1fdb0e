/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/modules/items.h"

#include <stdlib.h>

#include "cli/base/text.h"

/* Adds a scaffold to what holds a module, and the modules in it. */
static void hold(const struct pml_schema *s, int module, int scaffold, int *n_holds, int **holds) {
    for (int x = module; x < s->n_parts && (x == module || s->part[x].parent >= module); x++) {
        int n = n_holds[x];
        if (s->part[x].kind == CP_PART_MODULE && (n == 0 || holds[x][n - 1] != scaffold)) {
            holds[x] = cli_allocate(holds[x], (size_t)n + 1, sizeof *holds[x]);
            holds[x][n_holds[x]++] = scaffold;
        }
    }
}

static void find_holds(const struct pml_schema *s, int *n_holds, int **holds) {
    for (int x = 0; x < s->n_parts; x++) {
        n_holds[x] = 0;
        holds[x] = NULL;
    }
    for (int i = 0; i < s->n_scaffolds; i++) {
        const struct pml_scaffold *f = &s->scaffold[i];
        for (int j = 0; j < f->n; j++) {
            hold(s, s->module[f->first + j], i, n_holds, holds);
        }
    }
}

static int own_tokens(const struct pml_schema *s, int module) {
    int n = 0;
    for (int x = module + 1; x < s->n_parts && s->part[x].parent >= module; x++) {
        n += s->part[x].kind == CP_PART_TEXT && s->part[x].parent == module ? s->part[x].size : 0;
    }
    return n;
}

/* Texts have the order of positions. No two that a module sees are of different members of one
 * union (MOD-2), so that those before the module's are counted as they come. */
static long long count_pairs(const struct pml_schema *s, int module, int scaffold, int *seen,
                             char *is_seen) {
    int n = pml_mask_sees(s, module, scaffold, seen);
    long long before = 0, pairs = 0;
    for (int i = 0; i < n; i++) {
        is_seen[seen[i]] = 1;
    }
    for (int x = seen[0]; x < s->n_parts; x++) {
        long long size = s->part[x].size;
        if (s->part[x].kind != CP_PART_TEXT || !is_seen[s->part[x].parent]) {
            continue;
        }
        if (s->part[x].parent == module) {
            pairs += size * before + size * (size + 1) / 2;
        }
        before += size;
    }
    for (int i = 0; i < n; i++) {
        is_seen[seen[i]] = 0;
    }
    return pairs;
}

/* Room for one more. */
static struct modules_item *add(struct modules_items *items, int *room) {
    if (items->n == *room) {
        *room = 2 * *room + 16;
        items->item = cli_allocate(items->item, (size_t)*room, sizeof *items->item);
    }
    return &items->item[items->n++];
}

void modules_items_build(struct modules_items *items, const struct pml_schema *schema) {
    size_t n_parts = (size_t)schema->n_parts;
    int *n_holds = cli_allocate(NULL, n_parts, sizeof *n_holds), room = 0;
    int **holds = cli_allocate(NULL, n_parts, sizeof *holds);
    int *seen = cli_allocate(NULL, n_parts, sizeof *seen);
    char *is_seen = cli_allocate(NULL, n_parts, 1);
    *items = (struct modules_items){.schema = schema};
    items->first = cli_allocate(NULL, n_parts + 1, sizeof *items->first);
    find_holds(schema, n_holds, holds);
    for (size_t x = 0; x < n_parts; x++) {
        is_seen[x] = 0;
    }
    for (int x = 0; x < schema->n_parts; x++) {
        int tokens = schema->part[x].kind == CP_PART_MODULE ? own_tokens(schema, x) : 0;
        items->first[x] = items->n;
        for (int i = -1; tokens > 0 && i < n_holds[x]; i++) {
            int scaffold = i < 0 ? -1 : holds[x][i];
            *add(items, &room) = (struct modules_item){
                x, scaffold, tokens, count_pairs(schema, x, scaffold, seen, is_seen)};
        }
        free(holds[x]);
    }
    items->first[n_parts] = items->n;
    free(is_seen);
    free(seen);
    free(holds);
    free(n_holds);
}

void modules_items_free(struct modules_items *items) {
    free(items->item);
    free(items->first);
    *items = (struct modules_items){0};
}

int modules_item_find(const struct modules_items *items, int module, int scaffold) {
    for (int i = items->first[module]; i < items->first[module + 1]; i++) {
        if (items->item[i].scaffold == scaffold) {
            return i;
        }
    }
    return -1;
}
