/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/modules/items.h"

#include <stdlib.h>

#include "cli/base/text.h"

/* What holds each module. By part, on the way: of a union the member that the scaffold needs, or 0;
 * of what stands in another member 1. */
struct holds {
    int *n, **scaffold, *needed, *is_out;
};

/* The scaffold needs these members of unions, or does no longer. */
static void need(const struct pml_schema *s, const struct pml_scaffold *f, int is_needed,
                 int *needed) {
    for (int j = 0; j < f->n; j++) {
        for (int x = s->module[f->first + j]; x > 0; x = pml_scope(s, x)) {
            if (s->part[s->part[x].parent].kind == CP_PART_UNION) {
                needed[s->part[x].parent] = is_needed ? x : 0;
            }
        }
    }
}

/* Adds a scaffold to what holds a module, and the modules in it that a prompt may import with those
 * of the scaffold. */
static void hold(const struct pml_schema *s, int module, int scaffold, struct holds *h) {
    for (int x = module; x < s->n_parts && (x == module || s->part[x].parent >= module); x++) {
        int n = h->n[x], parent = s->part[x].parent;
        h->is_out[x] = x != module &&
                       (h->is_out[parent] || (h->needed[parent] != 0 && h->needed[parent] != x));
        if (s->part[x].kind == CP_PART_MODULE && !h->is_out[x] &&
            (n == 0 || h->scaffold[x][n - 1] != scaffold)) {
            h->scaffold[x] = cli_allocate(h->scaffold[x], (size_t)n + 1, sizeof *h->scaffold[x]);
            h->scaffold[x][h->n[x]++] = scaffold;
        }
    }
}

static void find_holds(const struct pml_schema *s, struct holds *h) {
    for (int x = 0; x < s->n_parts; x++) {
        h->n[x] = h->needed[x] = h->is_out[x] = 0;
        h->scaffold[x] = NULL;
    }
    for (int i = 0; i < s->n_scaffolds; i++) {
        const struct pml_scaffold *f = &s->scaffold[i];
        need(s, f, 1, h->needed);
        for (int j = 0; j < f->n; j++) {
            hold(s, s->module[f->first + j], i, h);
        }
        need(s, f, 0, h->needed);
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
static void list_items(struct modules_items *items, const struct holds *h) {
    const struct pml_schema *s = items->schema;
    int room = 0;
    for (int x = 0; x < s->n_parts; x++) {
        int tokens = s->part[x].kind == CP_PART_MODULE ? own_tokens(s, x) : 0;
        items->first[x] = items->n;
        for (int i = -1; tokens > 0 && i < h->n[x]; i++) {
            int scaffold = i < 0 ? -1 : h->scaffold[x][i];
            *add(items, &room) = (struct modules_item){x, scaffold, tokens, 0};
        }
    }
    items->first[s->n_parts] = items->n;
}

void modules_items_build(struct modules_items *items, const struct pml_schema *schema) {
    size_t n_parts = (size_t)schema->n_parts;
    struct holds h = {.n = cli_allocate(NULL, 3 * n_parts, sizeof *h.n),
                      .scaffold = cli_allocate(NULL, n_parts, sizeof *h.scaffold)};
    int *seen = cli_allocate(NULL, n_parts, sizeof *seen);
    struct way *way = cli_allocate(NULL, n_parts, sizeof *way);
    *items = (struct modules_items){.schema = schema};
    items->first = cli_allocate(NULL, n_parts + 1, sizeof *items->first);
    h.needed = h.n + n_parts;
    h.is_out = h.needed + n_parts;
    find_holds(schema, &h);
    list_items(items, &h);
    for (int scaffold = -1; scaffold < schema->n_scaffolds; scaffold++) {
        count_pairs(items, scaffold, way, seen);
    }
    for (size_t x = 0; x < n_parts; x++) {
        free(h.scaffold[x]);
    }
    free(way);
    free(seen);
    free(h.scaffold);
    free(h.n);
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
