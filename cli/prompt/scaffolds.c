/* SPDX-License-Identifier: Apache-2.0 */
/* Scaffolds: their modules, and the rule of MOD-3 on those that overlap (PML-9). */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/pml.h"

/* ---- Reading ---- */

/* The module that is nearest to a name of a scope that has none so called; one that is called so in
 * another scope is nearest. -1: none is near. */
static int nearest_module(const struct pml_schema *s, int scope, const char *name) {
    struct pml_nearest nearest = {.wrong = name};
    for (int x = 1; x < s->n_parts; x++) {
        if (s->part[x].kind == CP_PART_MODULE && strcmp(s->about[x].name, name) == 0) {
            return x;
        }
    }
    for (int i = 0; i < s->n_names; i++) {
        int x = s->named[i];
        if (s->part[x].kind == CP_PART_MODULE && pml_scope(s, x) == scope) {
            pml_nearest_see(&nearest, s->about[x].name);
        }
    }
    return nearest.name == NULL
               ? -1
               : pml_find(s, scope, CP_PART_MODULE, nearest.name, strlen(nearest.name));
}

static int unknown_module(const struct pml_schema *s, size_t offset, int scope, const char *name,
                          size_t size) {
    char *wrong = cli_allocate(NULL, size + 1, 1);
    memcpy(wrong, name, size);
    wrong[size] = '\0';
    if (strpbrk(wrong, ",;") != NULL) {
        pml_document_error(&s->document, offset,
                           "\"%s\" is no module's name. Write blanks between modules, as in "
                           "\"one two\".",
                           PML_SHORT(wrong));
        free(wrong);
        return -1;
    }
    int near = nearest_module(s, scope, wrong);
    char *path = near >= 0 ? pml_path(s, near) : NULL;
    pml_document_error(&s->document, offset,
                       "%s has no module %s.%s%s%s Name modules by their path, as in outer/inner.",
                       scope == 0 ? "the schema" : PML_SHORT(s->about[scope].name),
                       PML_SHORT(wrong), path != NULL ? " Did you mean " : "",
                       path != NULL ? PML_SHORT(path) : "", path != NULL ? "?" : "");
    free(path);
    free(wrong);
    return -1;
}

static int empty_name(const struct pml_schema *s, size_t offset, const char *path, size_t size) {
    char *wrong = cli_allocate(NULL, size + 1, 1);
    memcpy(wrong, path, size);
    wrong[size] = '\0';
    pml_document_error(&s->document, offset,
                       "the path \"%s\" has an empty name in it. Write names with one / between "
                       "two, as in outer/inner.",
                       PML_SHORT(wrong));
    free(wrong);
    return -1;
}

/* The module that a path names, or -1 after a message. */
static int module_of(const struct pml_schema *s, size_t offset, const char *path, size_t size) {
    int x = 0;
    for (size_t i = 0; i <= size;) {
        const char *slash = memchr(path + i, '/', size - i);
        size_t end = slash != NULL ? (size_t)(slash - path) : size;
        if (end == i) {
            return empty_name(s, offset, path, size);
        }
        int inner = pml_find(s, x, CP_PART_MODULE, path + i, end - i);
        if (inner < 0) {
            return unknown_module(s, offset, x, path + i, end - i);
        }
        x = inner;
        i = end + 1;
    }
    return x;
}

static int add_module(struct pml_schema *s, struct pml_scaffold *scaffold, size_t offset,
                      int module) {
    for (int i = 0; i < scaffold->n; i++) {
        if (s->module[scaffold->first + i] == module) {
            return pml_document_error(&s->document, offset,
                                      "the scaffold has %s twice. Name it once.",
                                      PML_SHORT(s->about[module].name));
        }
    }
    if (scaffold->n == PML_MAX_SCAFFOLD_MODULES) {
        return pml_document_error(&s->document, offset,
                                  "the scaffold has more than %d modules. Name one around them.",
                                  PML_MAX_SCAFFOLD_MODULES);
    }
    s->module[s->n_modules++] = module;
    scaffold->n++;
    return 0;
}

/* The node's one attribute is `modules`. */
static int read_modules(struct pml_schema *s, const struct pml_node *node) {
    const struct pml_document *d = &s->document;
    const struct pml_attribute *a = &d->attribute[node->first_attribute];
    struct pml_scaffold *scaffold = &s->scaffold[s->n_scaffolds++];
    *scaffold = (struct pml_scaffold){node->offset, s->n_modules, 0, 0};
    for (const char *at = a->value; *at != '\0';) {
        size_t blanks = strspn(at, " \t\r\n"), size = strcspn(at + blanks, " \t\r\n");
        at += blanks;
        if (size > 0) {
            int module = module_of(s, a->offset, at, size);
            if (module < 0 || add_module(s, scaffold, a->offset, module) != 0) {
                return -1;
            }
        }
        at += size;
    }
    return scaffold->n > 0
               ? 0
               : pml_document_error(d, a->offset, "the scaffold has no module. Name one or more.");
}

/* ---- The rule ---- */

/* Of one scaffold: its modules, and what it needs of each union. */
struct marks {
    int *listed; /* by part: 1 for its modules */
    int *needed; /* by part: 1 for these and the modules around them; of a union the member, or 0 */
};

/* Marks what is needed to import the module, and counts what was not needed before. Returns 0; or
 * the union of which two members are. */
static int need(const struct pml_schema *s, int *needed, int module, int *n_needed) {
    for (int x = module; x > 0; x = pml_scope(s, x)) {
        int parent = s->part[x].parent;
        *n_needed += needed[x] == 0;
        needed[x] = 1;
        if (s->part[parent].kind == CP_PART_UNION) {
            if (needed[parent] != 0 && needed[parent] != x) {
                return parent;
            }
            needed[parent] = x;
        }
    }
    return 0;
}

static void set_marks(const struct pml_schema *s, struct marks *m, const struct pml_scaffold *f,
                      int is_set) {
    for (int i = 0; i < f->n; i++) {
        int module = s->module[f->first + i];
        m->listed[module] = is_set;
        for (int x = module; x > 0; x = pml_scope(s, x)) {
            int parent = s->part[x].parent;
            m->needed[x] = is_set;
            if (s->part[parent].kind == CP_PART_UNION) {
                m->needed[parent] = is_set ? x : 0;
            }
        }
    }
}

/* Does `other` need another member of a union than the marked scaffold? */
static int exclude(const struct pml_schema *s, const struct marks *m,
                   const struct pml_scaffold *other) {
    for (int i = 0; i < other->n; i++) {
        for (int x = s->module[other->first + i]; x > 0; x = pml_scope(s, x)) {
            int parent = s->part[x].parent;
            if (s->part[parent].kind == CP_PART_UNION && m->needed[parent] != 0 &&
                m->needed[parent] != x) {
                return 1;
            }
        }
    }
    return 0;
}

/* Is x the module, or around it? */
static int is_around(const struct pml_schema *s, int x, int module) {
    while (module > x) {
        module = pml_scope(s, module);
    }
    return module == x;
}

/* A module that both hold, or 0. A scaffold holds its modules and all inside of them: so it is a
 * module of one, in or equal to a module of the other. The marks are those of f. */
static int common(const struct pml_schema *s, const struct marks *m, const struct pml_scaffold *f,
                  const struct pml_scaffold *other) {
    for (int i = 0; i < other->n; i++) {
        int module = s->module[other->first + i];
        for (int k = 0; m->needed[module] && k < f->n; k++) {
            if (is_around(s, module, s->module[f->first + k])) {
                return s->module[f->first + k];
            }
        }
        for (int x = module; x > 0; x = pml_scope(s, x)) {
            if (m->listed[x]) {
                return module;
            }
        }
    }
    return 0;
}

/* How many modules of `other` the marked scaffold has. */
static int count_listed(const struct pml_schema *s, const struct marks *m,
                        const struct pml_scaffold *other) {
    int n = 0;
    for (int i = 0; i < other->n; i++) {
        n += m->listed[s->module[other->first + i]];
    }
    return n;
}

/* `whole` has all modules of `part`, and more. So what `part` needs is a part of what `whole`
 * needs; if it is all of that, then every prompt to which `part` applies has a larger one. */
static int check_part(const struct pml_schema *s, const struct pml_scaffold *part,
                      const struct pml_scaffold *whole) {
    int line, column;
    if (part->n_needed < whole->n_needed) {
        return 0;
    }
    pml_document_place(&s->document, whole->offset, &line, &column);
    return pml_document_error(&s->document, part->offset,
                              "this scaffold never counts: that of line %d has its modules and "
                              "more, and no prompt imports these without the others. Remove it.",
                              line);
}

/* The marks are those of a. A module is listed once: so one has all of the other when it has as
 * many as that. */
static int check_pair(const struct pml_schema *s, const struct marks *m,
                      const struct pml_scaffold *a, const struct pml_scaffold *b) {
    int module = common(s, m, a, b), both = count_listed(s, m, b), line, column;
    if (both == a->n && both == b->n) {
        pml_document_place(&s->document, b->offset, &line, &column);
        return pml_document_error(&s->document, a->offset,
                                  "the scaffold of line %d has the same modules. Remove one.",
                                  line);
    }
    if (both == a->n || both == b->n) {
        return check_part(s, both == a->n ? a : b, both == a->n ? b : a);
    }
    if (module == 0 || exclude(s, m, b)) {
        return 0;
    }
    char *path = pml_path(s, module);
    pml_document_place(&s->document, b->offset, &line, &column);
    pml_document_error(&s->document, a->offset,
                       "this scaffold and that of line %d both count for %s, and neither has all "
                       "modules of the other. Make one a part of the other, or join them (MOD-3).",
                       line, path);
    free(path);
    return -1;
}

static int check_one(const struct pml_schema *s, int *needed, struct pml_scaffold *f) {
    for (int i = 0; i < f->n; i++) {
        int in = need(s, needed, s->module[f->first + i], &f->n_needed);
        if (in > 0) {
            int line, column;
            pml_document_place(&s->document, s->about[in].offset, &line, &column);
            return pml_document_error(&s->document, f->offset,
                                      "the scaffold has two members of the union of line %d, and "
                                      "no prompt imports both. Make a scaffold for each.",
                                      line);
        }
    }
    return 0;
}

static int check_rule(const struct pml_schema *s) {
    size_t n = (size_t)s->n_parts;
    struct marks m = {cli_allocate(NULL, n, sizeof(int)), cli_allocate(NULL, n, sizeof(int))};
    int status = 0;
    memset(m.listed, 0, n * sizeof(int));
    memset(m.needed, 0, n * sizeof(int));
    for (int i = 0; status == 0 && i < s->n_scaffolds; i++) {
        status = check_one(s, m.needed, &s->scaffold[i]);
        set_marks(s, &m, &s->scaffold[i], 1);
        for (int k = 0; status == 0 && k < i; k++) {
            status = check_pair(s, &m, &s->scaffold[i], &s->scaffold[k]);
        }
        set_marks(s, &m, &s->scaffold[i], 0);
    }
    free(m.listed);
    free(m.needed);
    return status;
}

int pml_scaffolds_read(struct pml_schema *schema, const int *nodes, int n_nodes) {
    struct pml_schema *s = schema;
    if (n_nodes == 0) {
        return 0;
    }
    s->scaffold = cli_allocate(NULL, (size_t)n_nodes, sizeof *s->scaffold);
    s->module = cli_allocate(NULL, (size_t)n_nodes * PML_MAX_SCAFFOLD_MODULES, sizeof *s->module);
    for (int i = 0; i < n_nodes; i++) {
        if (read_modules(s, &s->document.node[nodes[i]]) != 0) {
            return -1;
        }
    }
    return check_rule(s);
}
