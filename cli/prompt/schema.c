/* SPDX-License-Identifier: Apache-2.0 */
/* From the elements of a schema to the parts of MOD-1 (PML-2, PML-6). */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/pml.h"

/* An element that is being read. */
struct level {
    int node;
    int element;
    int part; /* in which its parts are: a role is none, and has those of the element around it */
    int in_role;
};

struct reader {
    struct pml_schema *s;
    struct level level[PML_MAX_DEPTH];
    int depth;
    int *scaffold; /* nodes */
    int n_scaffolds;
};

/* ---- What may stand where (PML-2) ---- */

#define IN(element) (1U << (element))

static unsigned may_stand_in(int element) {
    unsigned roles = IN(PML_E_SYSTEM) | IN(PML_E_USER) | IN(PML_E_ASSISTANT);
    unsigned modules = IN(PML_E_SCHEMA) | IN(PML_E_MODULE);
    switch (element) {
    case PML_E_MODULE:
        return modules | roles | IN(PML_E_UNION);
    case PML_E_UNION:
    case PML_E_PARAM:
        return modules | roles;
    case PML_E_SCAFFOLD:
        return IN(PML_E_SCHEMA);
    case PML_E_SYSTEM:
    case PML_E_USER:
    case PML_E_ASSISTANT:
        return modules;
    default:
        return 0;
    }
}

static const char *where_it_may(int element) {
    switch (element) {
    case PML_E_SCAFFOLD:
        return "It stands directly in <schema>.";
    case PML_E_SCHEMA:
        return "A file has one <schema>, its root.";
    case PML_E_PROMPT:
        return "A prompt is a file of its own.";
    case PML_E_SYSTEM:
    case PML_E_USER:
    case PML_E_ASSISTANT:
        return "It stands in <schema> or <module>, and in no other role.";
    default:
        return "It stands in <schema>, <module> or a role; in <union> there are modules alone.";
    }
}

static int unknown_element(const struct pml_schema *s, const struct pml_node *node) {
    struct pml_nearest nearest = {.wrong = node->name};
    for (int e = PML_E_MODULE; e < PML_E_PROMPT; e++) {
        pml_nearest_see(&nearest, pml_element_names[e]);
    }
    char *hint = pml_nearest_text(&nearest, "<", ">");
    pml_document_error(&s->document, node->offset,
                       "<%s> is no element of a schema.%s A module is <module name=\"%s\">.%s",
                       PML_SHORT(node->name), hint, PML_SHORT(node->name),
                       nearest.name == NULL ? " " PML_ADVICE_TEXT : "");
    free(hint);
    return -1;
}

static int check_place(const struct reader *r, const struct pml_node *node, int element) {
    const struct level *in = &r->level[r->depth - 1];
    if (element == PML_ELEMENTS) {
        return unknown_element(r->s, node);
    }
    int allowed = (may_stand_in(element) >> in->element & 1) != 0;
    int in_role = in->in_role && pml_role_of(element) != PML_ROLES;
    while (in_role && pml_role_of(in->element) == PML_ROLES) {
        in--; /* to the role around it */
    }
    if (!allowed || in_role) {
        return pml_document_error(&r->s->document, node->offset, "<%s> may not stand in <%s>. %s",
                                  node->name, r->s->document.node[in->node].name,
                                  where_it_may(element));
    }
    return 0;
}

/* ---- Attributes ---- */

static void unknown_attribute(const struct pml_document *d, const struct pml_node *node,
                              const struct pml_attribute *a, const struct pml_nearest *nearest) {
    char *hint = pml_nearest_text(nearest, "", "");
    int element = pml_element_of(node->name);
    const char *mend = "Remove or rename it.";
    if (element == PML_E_UNION && strcmp(a->name, "name") == 0) {
        mend = "Remove it: a union has no name, only its modules have.";
    } else if (element == PML_E_UNION || pml_role_of(element) != PML_ROLES) {
        mend = "Remove it.";
    }
    pml_document_error(d, a->offset, "<%s> has no attribute %s.%s %s", node->name,
                       PML_SHORT(a->name), hint, mend);
    free(hint);
}

/* The values of the attributes in `names`, which ends with NULL: all of them are needed, and no
 * other is allowed. */
static int read_attributes(const struct pml_schema *s, const struct pml_node *node,
                           const char *const *names, const char **values, size_t *offsets) {
    const struct pml_document *d = &s->document;
    for (int k = 0; names[k] != NULL; k++) {
        values[k] = NULL;
    }
    for (int i = 0; i < node->n_attributes; i++) {
        const struct pml_attribute *a = &d->attribute[node->first_attribute + i];
        struct pml_nearest nearest = {.wrong = a->name};
        int k = 0;
        while (names[k] != NULL && strcmp(names[k], a->name) != 0) {
            pml_nearest_see(&nearest, names[k++]);
        }
        if (names[k] == NULL) {
            unknown_attribute(d, node, a, &nearest);
            return -1;
        }
        values[k] = a->value;
        offsets[k] = a->offset;
    }
    for (int k = 0; names[k] != NULL; k++) {
        if (values[k] == NULL) {
            pml_document_error(d, node->offset, "<%s> lacks its %s. Write <%s %s=\"...\">.",
                               node->name, names[k], node->name, names[k]);
            return -1;
        }
    }
    return 0;
}

static int read_no_attributes(const struct pml_schema *s, const struct pml_node *node) {
    static const char *const none[] = {NULL};
    const char *value;
    size_t offset;
    return read_attributes(s, node, none, &value, &offset);
}

static int check_name(const struct pml_schema *s, int element, const char *name, size_t offset) {
    const char *why = pml_name_refused(element, name);
    return why == NULL
               ? 0
               : pml_document_error(&s->document, offset, "the name \"%s\" %s. Choose another.",
                                    PML_SHORT(name), why);
}

static int read_name(const struct pml_schema *s, const struct pml_node *node, int element,
                     const char **name) {
    static const char *const names[] = {"name", NULL};
    size_t offset = 0;
    return read_attributes(s, node, names, name, &offset) != 0 ||
                   check_name(s, element, *name, offset) != 0
               ? -1
               : 0;
}

/* A number without a sign and without a leading 0; -1: it is none, or more than `most`. */
static int whole(const char *text, int most) {
    size_t digits = strspn(text, "0123456789");
    if (text[digits] != '\0' || digits < 1 || digits > 9 || text[0] == '0') {
        return -1;
    }
    long number = strtol(text, NULL, 10);
    return number <= most ? (int)number : -1;
}

static int read_param(const struct pml_schema *s, const struct pml_node *node, const char **name,
                      int *len) {
    static const char *const names[] = {"name", "len", NULL};
    const char *values[2];
    size_t offsets[2] = {0, 0};
    if (read_attributes(s, node, names, values, offsets) != 0) {
        return -1;
    }
    *name = values[0];
    *len = whole(values[1], CP_MAX_POSITIONS);
    if ((*len > 0 || offsets[0] < offsets[1]) &&
        check_name(s, PML_E_PARAM, values[0], offsets[0]) != 0) {
        return -1;
    }
    if (*len < 0) {
        return pml_document_error(&s->document, offsets[1],
                                  "len is \"%s\". Write how many tokens an argument may have, from "
                                  "1 to %d.",
                                  PML_SHORT(values[1]), CP_MAX_POSITIONS);
    }
    return 0;
}

static int check_empty(const struct pml_schema *s, int i) {
    const struct pml_node *node = &s->document.node[i], *inner = node + 1;
    if (node->end > i + 1 && !(node->end == i + 2 && pml_is_blank(inner))) {
        return pml_document_error(&s->document, inner->offset,
                                  "<%s> has no content. Write <%s .../>.", node->name, node->name);
    }
    return 0;
}

/* ---- Parts ---- */

static int has_room(const struct pml_schema *s, size_t offset) {
    if (s->n_parts == CP_MAX_PARTS) {
        pml_document_error(&s->document, offset, "the schema has more than %d parts. Divide it.",
                           CP_MAX_PARTS);
        return 0;
    }
    return 1;
}

static int add_part(struct pml_schema *s, int kind, int parent, size_t offset) {
    int x = s->n_parts;
    s->part = cli_grow(s->part, x, sizeof *s->part);
    s->about = cli_grow(s->about, x, sizeof *s->about);
    s->part[x] = (struct cp_part){kind, parent, 0};
    s->about[x] = (struct pml_part){.offset = offset, .role = PML_ROLES};
    return s->n_parts++;
}

/* What a template adds is a text of its own (PML-8). */
static int add_template(struct reader *r, int parent, int role, const char *text, size_t offset) {
    struct pml_schema *s = r->s;
    if (text[0] == '\0') {
        return 0;
    }
    if (!has_room(s, offset)) {
        return -1;
    }
    int x = add_part(s, CP_PART_TEXT, parent, offset);
    s->about[x].role = role;
    s->about[x].text = pml_texts_begin(&s->texts);
    pml_texts_add_template(&s->texts, &s->about[x].text, text, strlen(text));
    s->part[x].size = s->about[x].text.n_tokens;
    return 0;
}

static int read_text(struct reader *r, const struct pml_node *node) {
    struct pml_schema *s = r->s;
    const struct level *in = &r->level[r->depth - 1];
    int is_union = in->element == PML_E_UNION;
    int is_empty = in->element == PML_E_PARAM || in->element == PML_E_SCAFFOLD;
    struct pml_text text = pml_texts_begin(&s->texts);
    struct pml_node plain = *node;
    plain.keeps_space = node->keeps_space && !is_union && !is_empty;
    pml_texts_add_node(&s->texts, &text, &plain);
    if (text.size == 0) {
        return 0;
    }
    if (is_union) {
        return pml_document_error(&s->document, node->offset,
                                  "text may not stand in <union>. Put it into a <module>.");
    }
    if (pml_marker_check(&s->document, node->offset, s->template, "text",
                         s->texts.text + text.at) != 0 ||
        !has_room(s, node->offset)) {
        return -1;
    }
    int x = add_part(s, CP_PART_TEXT, in->part, node->offset);
    s->about[x].text = text;
    s->part[x].size = text.n_tokens;
    return 0;
}

/* ---- Elements ---- */

static void enter(struct reader *r, int i, int element, int part, int in_role) {
    r->level[r->depth++] = (struct level){i, element, part, in_role};
}

static int leave(void *reader) {
    struct reader *r = reader;
    const struct level *level = &r->level[--r->depth];
    int role = pml_role_of(level->element);
    if (role == PML_ROLES) {
        return 0;
    }
    int status = add_template(r, level->part, role, r->s->template->of[role].behind,
                              r->s->document.node[level->node].offset);
    r->s->role[r->s->n_roles - 1].end = r->s->n_parts;
    return status;
}

static void begin_role(struct pml_schema *s, int role, size_t offset) {
    s->role = cli_grow(s->role, s->n_roles, sizeof *s->role);
    s->role[s->n_roles++] = (struct pml_role_part){offset, role, s->n_parts, s->n_parts};
}

static int read_role(struct reader *r, int i, int element, int part) {
    const struct pml_node *node = &r->s->document.node[i];
    int role = pml_role_of(element);
    if (read_no_attributes(r->s, node) != 0) {
        return -1;
    }
    begin_role(r->s, role, node->offset);
    if (add_template(r, part, role, r->s->template->of[role].before, node->offset) != 0) {
        return -1;
    }
    enter(r, i, element, part, 1);
    return 0;
}

/* A module without a name is no part (PML-6). */
static int read_anonymous(struct reader *r, int i, const struct level *in) {
    const struct pml_node *node = &r->s->document.node[i];
    if (in->element == PML_E_UNION) {
        return pml_document_error(&r->s->document, node->offset,
                                  "a member of a union lacks its name. Write <module "
                                  "name=\"...\">: no prompt could choose it.");
    }
    enter(r, i, PML_E_MODULE, in->part, in->in_role);
    return 0;
}

static int read_part(struct reader *r, int i, int element, int parent, int in_role) {
    struct pml_schema *s = r->s;
    const struct pml_node *node = &s->document.node[i];
    const char *name = NULL;
    int kind = element == PML_E_MODULE  ? CP_PART_MODULE
               : element == PML_E_UNION ? CP_PART_UNION
                                        : CP_PART_PARAM;
    int len = 0;
    int status = kind == CP_PART_MODULE  ? read_name(s, node, element, &name)
                 : kind == CP_PART_UNION ? read_no_attributes(s, node)
                                         : read_param(s, node, &name, &len);
    if (status != 0 || !has_room(s, node->offset) ||
        (kind == CP_PART_PARAM && check_empty(s, i) != 0)) {
        return -1;
    }
    int x = add_part(s, kind, parent, node->offset);
    s->about[x].name = name;
    s->part[x].size = len;
    enter(r, i, element, x, in_role);
    return 0;
}

static int read_scaffold(struct reader *r, int i) {
    struct pml_schema *s = r->s;
    static const char *const names[] = {"modules", NULL};
    const char *modules;
    size_t offset;
    if (read_attributes(s, &s->document.node[i], names, &modules, &offset) != 0 ||
        check_empty(s, i) != 0) {
        return -1;
    }
    if (r->n_scaffolds == PML_MAX_SCAFFOLDS) {
        return pml_document_error(&s->document, s->document.node[i].offset,
                                  "the schema has more than %d scaffolds. Remove some.",
                                  PML_MAX_SCAFFOLDS);
    }
    r->scaffold[r->n_scaffolds++] = i;
    enter(r, i, PML_E_SCAFFOLD, 0, 0);
    return 0;
}

static int read_element(struct reader *r, int i) {
    const struct pml_node *node = &r->s->document.node[i];
    int element = pml_element_of(node->name);
    struct level in = r->level[r->depth - 1];
    if (check_place(r, node, element) != 0) {
        return -1;
    }
    if (pml_role_of(element) != PML_ROLES) {
        return read_role(r, i, element, in.part);
    }
    if (element == PML_E_MODULE && node->n_attributes == 0) {
        return read_anonymous(r, i, &in);
    }
    return element == PML_E_SCAFFOLD ? read_scaffold(r, i)
                                     : read_part(r, i, element, in.part, in.in_role);
}

static int read_root(struct reader *r) {
    struct pml_schema *s = r->s;
    const struct pml_node *root = &s->document.node[0];
    const char *name;
    if (strcmp(root->name, "schema") != 0) {
        return pml_document_error(
            &s->document, root->offset,
            "the root is <%s>. A schema's is <schema name=\"...\">; the first "
            "file is the schema.",
            PML_SHORT(root->name));
    }
    if (read_name(s, root, PML_E_SCHEMA, &name) != 0) {
        return -1;
    }
    add_part(s, CP_PART_MODULE, -1, root->offset);
    s->about[0].name = name;
    enter(r, 0, PML_E_SCHEMA, 0, 0);
    return 0;
}

static int read_node(void *reader, int i) {
    struct reader *r = reader;
    const struct pml_node *node = &r->s->document.node[i];
    if (i == 0) {
        return read_root(r);
    }
    return node->name != NULL ? read_element(r, i) : read_text(r, node);
}

static const struct pml_visitor visitor = {read_node, leave};

/* ---- The whole ---- */

/* The sizes of MOD-1, which may be too large for it. */
static long long *long_sizes(const struct pml_schema *s) {
    long long *size = cli_allocate(NULL, (size_t)s->n_parts, sizeof *size);
    for (int x = 0; x < s->n_parts; x++) {
        size[x] = s->part[x].size;
    }
    for (int x = s->n_parts - 1; x > 0; x--) {
        long long *around = &size[s->part[x].parent];
        if (s->part[s->part[x].parent].kind != CP_PART_UNION) {
            *around += size[x];
        } else if (*around < size[x]) {
            *around = size[x];
        }
    }
    return size;
}

/* The first text or param that ends behind the last position there may be. */
static int first_behind(const struct pml_schema *s, const long long *size) {
    long long *end = cli_allocate(NULL, (size_t)s->n_parts, sizeof *end); /* of what is in a part */
    int x = 0;
    end[0] = 0;
    do {
        int parent = s->part[++x].parent;
        end[x] = end[parent]; /* the begin of part x */
        if (s->part[parent].kind != CP_PART_UNION) {
            end[parent] += size[x];
        }
    } while (s->part[x].kind <= CP_PART_UNION || end[x] + size[x] <= CP_MAX_POSITIONS);
    free(end);
    return x;
}

static int too_long(const struct pml_schema *s) {
    long long *size = long_sizes(s);
    int x = first_behind(s, size);
    pml_document_error(&s->document, s->about[x].offset,
                       "the schema takes %lld positions, and may take %d: this %s ends behind "
                       "them. Shorten texts and params, or put modules that exclude each other "
                       "into a <union>.",
                       size[0], CP_MAX_POSITIONS,
                       s->part[x].kind == CP_PART_PARAM ? "param" : "text");
    free(size);
    return -1;
}

static int lay_out(struct pml_schema *s) {
    int wrong = cp_schema_check(s->part, s->n_parts);
    if (wrong >= 0) {
        return pml_document_error(&s->document, 0, "part %d breaks MOD-1: a defect of chunkproof.",
                                  wrong);
    }
    s->begin = cli_allocate(NULL, (size_t)s->n_parts, sizeof *s->begin);
    s->size = cli_allocate(NULL, (size_t)s->n_parts, sizeof *s->size);
    if (cp_schema_layout(s->part, s->n_parts, s->begin, s->size) != CP_OK) {
        return too_long(s);
    }
    return 0;
}

int pml_schema_from(struct pml_schema *schema, struct pml_document *document,
                    const struct pml_tokenizer *tokenizer, const struct pml_template *template) {
    memset(schema, 0, sizeof *schema);
    schema->document = *document;
    memset(document, 0, sizeof *document);
    schema->template = template;
    schema->texts.tokenizer = tokenizer;
    struct reader r = {.s = schema};
    r.scaffold = cli_allocate(NULL, PML_MAX_SCAFFOLDS, sizeof *r.scaffold);
    int status = pml_document_walk(&r.s->document, &visitor, &r);
    if (status == 0) {
        status = pml_names_sort(schema);
    }
    if (status == 0) {
        status = pml_scaffolds_read(schema, r.scaffold, r.n_scaffolds);
    }
    if (status == 0) {
        status = lay_out(schema);
    }
    free(r.scaffold);
    return status;
}

void pml_schema_free(struct pml_schema *schema) {
    pml_document_free(&schema->document);
    pml_texts_free(&schema->texts);
    free(schema->part);
    free(schema->about);
    free(schema->begin);
    free(schema->size);
    free(schema->named);
    free(schema->role);
    free(schema->scaffold);
    free(schema->module);
    memset(schema, 0, sizeof *schema);
}
