/* SPDX-License-Identifier: Apache-2.0 */
/* Which name means which part: scopes (PML-3). The names are an array that is sorted once. */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/pml.h"

int pml_scope(const struct pml_schema *schema, int x) {
    int parent = schema->part[x].parent;
    return parent >= 0 && schema->part[parent].kind == CP_PART_UNION ? schema->part[parent].parent
                                                                     : parent;
}

static int order(int a, int b) {
    return (a > b) - (a < b);
}

/* By scope, kind, name; below 0, 0 or above 0. The name of the key has `size` bytes. */
static int compare(const struct pml_schema *s, int x, int scope, int kind, const char *name,
                   size_t size) {
    int way = order(pml_scope(s, x), scope);
    if (way == 0) {
        way = order(s->part[x].kind, kind);
    }
    if (way == 0) {
        way = strncmp(s->about[x].name, name, size);
    }
    return way != 0 ? way : s->about[x].name[size] != '\0';
}

static int by_name(const void *left, const void *right, void *schema) {
    const struct pml_schema *s = schema;
    int a = *(const int *)left, b = *(const int *)right;
    const char *name = s->about[b].name;
    int way = compare(s, a, pml_scope(s, b), s->part[b].kind, name, strlen(name));
    return way != 0 ? way : order(a, b);
}

static int is_same(const struct pml_schema *s, int a, int b) {
    const char *name = s->about[b].name;
    return compare(s, a, pml_scope(s, b), s->part[b].kind, name, strlen(name)) == 0;
}

static int refuse_twice(const struct pml_schema *s, int first, int second) {
    int line, column;
    const char *kind = s->part[second].kind == CP_PART_PARAM ? "param" : "module";
    pml_document_place(&s->document, s->about[first].offset, &line, &column);
    return pml_document_error(&s->document, s->about[second].offset,
                              "a %s of line %d is called %s, too. Give this one another name.",
                              kind, line, PML_SHORT(s->about[second].name));
}

int pml_names_sort(struct pml_schema *schema) {
    struct pml_schema *s = schema;
    int first = 0, second = 0; /* part 0 is in no scope */
    s->named = cli_allocate(NULL, (size_t)s->n_parts, sizeof *s->named);
    s->n_names = 0;
    for (int x = 1; x < s->n_parts; x++) {
        if (s->about[x].name != NULL) {
            s->named[s->n_names++] = x;
        }
    }
    qsort_r(s->named, (size_t)s->n_names, sizeof *s->named, by_name, s);
    for (int i = 1; i < s->n_names; i++) {
        int a = s->named[i - 1], b = s->named[i];
        if ((second == 0 || b < second) && is_same(s, a, b)) {
            first = a;
            second = b;
        }
    }
    return second > 0 ? refuse_twice(s, first, second) : 0;
}

int pml_find(const struct pml_schema *schema, int scope, int kind, const char *name, size_t size) {
    int low = 0, high = schema->n_names;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int way = compare(schema, schema->named[middle], scope, kind, name, size);
        if (way == 0) {
            return schema->named[middle];
        }
        if (way < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return -1;
}

/* The modules around x are at most as many as elements can stand in each other. */
char *pml_path(const struct pml_schema *schema, int x) {
    int around[PML_MAX_DEPTH], n = 0;
    char *text;
    size_t size;
    for (int y = x; y > 0; y = pml_scope(schema, y)) {
        around[n++] = y;
    }
    FILE *out = text_open(&text, &size);
    for (int i = n - 1; i >= 0; i--) {
        fprintf(out, "%s%s", schema->about[around[i]].name, i > 0 ? "/" : "");
    }
    text_close(out);
    return text;
}
