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

/* What is known of a module on the way through the parts of a schema. */
struct way {
    int tokens;  /* of its own text, so far */
    int is_seen; /* by every module that the scaffold holds */
};

/* Tokens so far of the modules that only this one sees, and those in it: itself and those around
 * it. */
static long long tokens_around(const struct pml_schema *s, const struct way *way, int module) {
    long long tokens = 0;
    for (int x = module; x >= 0; x = pml_scope(s, x)) {
        tokens += way[x].is_seen ? 0 : way[x].tokens;
    }
    return tokens;
}

/* Pairs of all items of a scaffold, or of none. Texts have the order of positions, and no two that
 * a module sees are of different members of one union (MOD-2): what it sees of them are those that
 * come before its own. */
static void count_pairs(struct modules_items *items, int scaffold, struct way *way, int *seen) {
    const struct pml_schema *s = items->schema;
    long long seen_by_all = 0;
    for (int x = 0; x < s->n_parts; x++) {
        way[x] = (struct way){0, 0};
    }
    if (scaffold >= 0) {
        int n = pml_mask_sees(s, s->module[s->scaffold[scaffold].first], scaffold, seen);
        for (int i = 0; i < n; i++) {
            way[seen[i]].is_seen = 1;
        }
    }
    for (int x = 1; x < s->n_parts; x++) {
        int module = s->part[x].parent, size = s->part[x].size;
        int item =
            s->part[x].kind == CP_PART_TEXT ? modules_item_find(items, module, scaffold) : -1;
        if (item >= 0) {
            long long before = seen_by_all + tokens_around(s, way, module);
            items->item[item].pairs += size * before + (long long)size * (size + 1) / 2;
        }
        if (s->part[x].kind == CP_PART_TEXT) {
            way[module].tokens += size;
            seen_by_all += way[module].is_seen ? size : 0;
        }
    }
}

/* Room for one more. */
static struct modules_item *add(struct modules_items *items, int *room) {
    if (items->n == *room) {
        *room = 2 * *room + 16;
        items->item = cli_allocate(items->item, (size_t)*room, sizeof *items->item);
    }
    return &items->item[items->n++];
}

/* The items, without their pairs. */
static void list_items(struct modules_items *items, const int *n_holds, int *const *holds) {
    const struct pml_schema *s = items->schema;
    int room = 0;
    for (int x = 0; x < s->n_parts; x++) {
        int tokens = s->part[x].kind == CP_PART_MODULE ? own_tokens(s, x) : 0;
        items->first[x] = items->n;
        for (int i = -1; tokens > 0 && i < n_holds[x]; i++) {
            int scaffold = i < 0 ? -1 : holds[x][i];
            *add(items, &room) = (struct modules_item){x, scaffold, tokens, 0};
        }
    }
    items->first[s->n_parts] = items->n;
}

void modules_items_build(struct modules_items *items, const struct pml_schema *schema) {
    size_t n_parts = (size_t)schema->n_parts;
    int *n_holds = cli_allocate(NULL, n_parts, sizeof *n_holds);
    int **holds = cli_allocate(NULL, n_parts, sizeof *holds);
    int *seen = cli_allocate(NULL, n_parts, sizeof *seen);
    struct way *way = cli_allocate(NULL, n_parts, sizeof *way);
    *items = (struct modules_items){.schema = schema};
    items->first = cli_allocate(NULL, n_parts + 1, sizeof *items->first);
    find_holds(schema, n_holds, holds);
    list_items(items, n_holds, holds);
    for (int scaffold = -1; scaffold < schema->n_scaffolds; scaffold++) {
        count_pairs(items, scaffold, way, seen);
    }
    for (size_t x = 0; x < n_parts; x++) {
        free(holds[x]);
    }
    free(way);
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
