/* SPDX-License-Identifier: Apache-2.0 */
/* From the elements of a prompt to imports, arguments and segments (PML-7, PML-10, PML-11). */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/pml.h"

#define MOST_SEGMENTS 4096

/* An element that is being read. */
struct level {
    int node;
    int role;   /* PML_ROLES: the prompt or an import */
    int module; /* that it imports; part 0: the prompt */
    int last;   /* the import in it that ended last, or -1 */
};

struct reader {
    struct pml_prompt *p;
    const struct pml_schema *s;
    struct level level[PML_MAX_DEPTH];
    int depth;
    int is_open; /* the last segment may go on */
};

/* ---- Names ---- */

static void see_names(const struct pml_schema *s, int scope, int kind, struct pml_nearest *near) {
    for (int i = 0; i < s->n_names; i++) {
        int x = s->named[i];
        if (s->part[x].kind == kind && pml_scope(s, x) == scope) {
            pml_nearest_see(near, s->about[x].name);
        }
    }
}

/* A module or param with this name in another scope, or -1. */
static int elsewhere(const struct pml_schema *s, int kind, const char *name) {
    for (int x = 1; x < s->n_parts; x++) {
        if (s->part[x].kind == kind && strcmp(s->about[x].name, name) == 0) {
            return x;
        }
    }
    return -1;
}

static const char *of_scope(const struct pml_schema *s, int scope) {
    return scope == 0 ? "the schema" : s->about[scope].name;
}

/* "trip-plan", with the modules around it, or "the schema". The caller frees it. */
static char *path_of(const struct pml_schema *s, int scope) {
    char *path = scope == 0 ? NULL : pml_path(s, scope), *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    fputs(scope == 0 ? "the schema" : PML_SHORT(path), out);
    text_close(out);
    free(path);
    return text;
}

/* How the argument of a param is written: <trip-plan duration="...">. The caller frees it. */
static char *argument_tag(const struct pml_schema *s, int param) {
    int scope = pml_scope(s, param);
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    if (scope == 0) {
        fprintf(out, "<prompt schema=\"%s\"", PML_SHORT(s->about[0].name));
    } else {
        fprintf(out, "<%s", PML_SHORT(s->about[scope].name));
    }
    fprintf(out, " %s=\"...\">", PML_SHORT(s->about[param].name));
    text_close(out);
    return text;
}

static int other_scope(const struct reader *r, const struct pml_node *node, int scope, int outer) {
    char *path = pml_path(r->s, outer);
    const char *name = PML_SHORT(node->name);
    pml_document_error(&r->p->document, node->offset, "%s has no module %s. Put <%s/> into %s%s.",
                       PML_SHORT(of_scope(r->s, scope)), name, name,
                       outer == 0 ? "<prompt> itself" : "the import of ", PML_SHORT(path));
    free(path);
    return -1;
}

static int param_as_element(const struct reader *r, const struct pml_node *node, int param) {
    char *path = path_of(r->s, pml_scope(r->s, param)), *tag = argument_tag(r->s, param);
    pml_document_error(&r->p->document, node->offset,
                       "%s is a param of %s. Write its argument as an attribute: %s",
                       PML_SHORT(node->name), path, tag);
    free(path);
    free(tag);
    return -1;
}

static int unknown_import(const struct reader *r, const struct pml_node *node, int scope) {
    const struct pml_document *d = &r->p->document;
    struct pml_nearest nearest = {.wrong = node->name};
    int param = pml_find(r->s, scope, CP_PART_PARAM, node->name, strlen(node->name));
    int other = elsewhere(r->s, CP_PART_MODULE, node->name);
    if (pml_element_of(node->name) < PML_ELEMENTS) {
        return pml_document_error(d, node->offset,
                                  "<%s> may not stand here. In a prompt there are imports, and in "
                                  "<prompt> also <system>, <user> and <assistant>.",
                                  node->name);
    }
    if (param < 0 && other >= 0) {
        return other_scope(r, node, scope, pml_scope(r->s, other));
    }
    param = param >= 0 ? param : elsewhere(r->s, CP_PART_PARAM, node->name);
    if (param >= 0) {
        return param_as_element(r, node, param);
    }
    see_names(r->s, scope, CP_PART_MODULE, &nearest);
    char *hint = pml_nearest_text(&nearest, "<", "/>");
    pml_document_error(d, node->offset, "%s has no module %s.%s%s",
                       PML_SHORT(of_scope(r->s, scope)), PML_SHORT(node->name), hint,
                       nearest.name == NULL ? " " PML_ADVICE_TEXT : "");
    free(hint);
    return -1;
}

static int other_param(const struct reader *r, const struct pml_attribute *a, int module,
                       int param) {
    char *path = path_of(r->s, pml_scope(r->s, param)), *tag = argument_tag(r->s, param);
    pml_document_error(&r->p->document, a->offset, "%s has no param %s. It is one of %s: write %s",
                       PML_SHORT(of_scope(r->s, module)), PML_SHORT(a->name), path, tag);
    free(path);
    free(tag);
    return -1;
}

static int unknown_argument(const struct reader *r, const struct pml_attribute *a, int module) {
    int param = elsewhere(r->s, CP_PART_PARAM, a->name);
    if (param >= 0) {
        return other_param(r, a, module, param);
    }
    struct pml_nearest nearest = {.wrong = a->name};
    see_names(r->s, module, CP_PART_PARAM, &nearest);
    char *hint = pml_nearest_text(&nearest, "", "");
    pml_document_error(&r->p->document, a->offset,
                       "%s has no param %s.%s An argument has the name of its param.",
                       PML_SHORT(of_scope(r->s, module)), PML_SHORT(a->name), hint);
    free(hint);
    return -1;
}

/* ---- Arguments ---- */

static int add_argument(struct reader *r, const struct pml_attribute *a, int param,
                        int keeps_space) {
    struct pml_prompt *p = r->p;
    struct pml_argument *argument = &p->argument[p->n_arguments++];
    int most = r->s->part[param].size, line, column;
    *argument = (struct pml_argument){param, a->offset, pml_texts_begin(&p->texts)};
    pml_texts_add_argument(&p->texts, &argument->text, a->value, keeps_space);
    if (argument->text.n_tokens <= most) {
        return pml_marker_check(&p->document, a->offset, r->s->template, "argument",
                                p->texts.text + argument->text.at);
    }
    pml_document_place(&r->s->document, r->s->about[param].offset, &line, &column);
    return pml_document_error(&p->document, a->offset,
                              "the argument %s has %d tokens, and its param (%s:%d) takes %d. "
                              "Shorten it, or raise len.",
                              PML_SHORT(a->name), argument->text.n_tokens, r->s->document.path,
                              line, most);
}

static int read_arguments(struct reader *r, const struct pml_node *node, int module) {
    const struct pml_document *d = &r->p->document;
    for (int i = 0; i < node->n_attributes; i++) {
        const struct pml_attribute *a = &d->attribute[node->first_attribute + i];
        if (module == 0 && strcmp(a->name, "schema") == 0) {
            continue;
        }
        int param = pml_find(r->s, module, CP_PART_PARAM, a->name, strlen(a->name));
        if (param < 0) {
            return unknown_argument(r, a, module);
        }
        if (add_argument(r, a, param, node->keeps_space) != 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- Imports ---- */

static int imported_twice(const struct reader *r, const struct pml_node *node, int module) {
    int line, column, before = r->p->imported[module] - 1;
    pml_document_place(&r->p->document, r->p->document.node[before].offset, &line, &column);
    return pml_document_error(&r->p->document, node->offset,
                              "%s is imported in line %d already. Import it once.",
                              PML_SHORT(node->name), line);
}

static int read_import(struct reader *r, int i) {
    const struct pml_node *node = &r->p->document.node[i];
    struct level *in = &r->level[r->depth - 1];
    int module = pml_find(r->s, in->module, CP_PART_MODULE, node->name, strlen(node->name));
    if (module < 0) {
        return unknown_import(r, node, in->module);
    }
    if (r->p->imported[module] != 0) {
        return imported_twice(r, node, module);
    }
    r->p->imported[module] = i + 1;
    r->level[r->depth++] = (struct level){i, PML_ROLES, module, -1};
    return read_arguments(r, node, module);
}

/* ---- New text ---- */

/* The segment that new text at this place goes on, or a new one; NULL after a message. The text is
 * of the role that is this node; 0: of none. */
static struct pml_segment *segment_at(struct reader *r, const struct pml_node *node, int role) {
    struct pml_prompt *p = r->p;
    const struct level *in = &r->level[r->depth - 1];
    if (r->is_open) {
        struct pml_segment *open = &p->segment[p->n_segments - 1];
        open->role = open->role > 0 ? open->role : role;
        return open;
    }
    if (p->n_segments == MOST_SEGMENTS) {
        pml_document_error(&p->document, node->offset,
                           "the prompt has more than %d texts. Join some.", MOST_SEGMENTS);
        return NULL;
    }
    r->is_open = 1;
    struct pml_segment *segment = &p->segment[p->n_segments++];
    *segment = (struct pml_segment){in->last, node->offset, role, -1, pml_texts_begin(&p->texts)};
    return segment;
}

/* Adds a text of a role's template. */
static int add_template(struct reader *r, int role, const char *text) {
    struct pml_segment *segment;
    if (text[0] == '\0') {
        return 0;
    }
    segment = segment_at(r, &r->p->document.node[role], role);
    if (segment == NULL) {
        return -1;
    }
    pml_texts_add_template(&r->p->texts, &segment->text, text, strlen(text));
    return 0;
}

static int misplaced_text(const struct reader *r, const struct pml_node *node,
                          const struct level *in) {
    return pml_document_error(&r->p->document, node->offset,
                              "text may stand in <%s> only behind an import in it. Move it behind "
                              "</%s>, or write an argument as an attribute.",
                              r->p->document.node[in->node].name,
                              r->p->document.node[in->node].name);
}

/* White space alone is nothing, whatever xml:space is, in an import. */
static int read_text(struct reader *r, const struct pml_node *node) {
    const struct level *in = &r->level[r->depth - 1];
    int is_import = in->role == PML_ROLES && in->module > 0;
    if (pml_is_blank(node) && (is_import || !node->keeps_space)) {
        return 0;
    }
    if (is_import && in->last < 0) {
        return misplaced_text(r, node, in);
    }
    struct pml_segment *segment = segment_at(r, node, in->role != PML_ROLES ? in->node : 0);
    if (segment == NULL) {
        return -1;
    }
    size_t before = segment->text.at + segment->text.size;
    pml_texts_add_node(&r->p->texts, &segment->text, node);
    return pml_marker_check(&r->p->document, node->offset, r->s->template, "text",
                            r->p->texts.text + before);
}

static int read_role(struct reader *r, int i, int role) {
    const struct pml_node *node = &r->p->document.node[i];
    const struct level in = r->level[r->depth - 1];
    if (in.module > 0 || in.role != PML_ROLES) {
        return pml_document_error(&r->p->document, node->offset,
                                  "<%s> may not stand in <%s>. Put it directly into <prompt>.",
                                  node->name, PML_SHORT(r->p->document.node[in.node].name));
    }
    if (node->n_attributes > 0) {
        const struct pml_attribute *a = &r->p->document.attribute[node->first_attribute];
        return pml_document_error(&r->p->document, a->offset,
                                  "<%s> has no attribute %s. Remove it.", node->name,
                                  PML_SHORT(a->name));
    }
    r->level[r->depth++] = (struct level){i, role, 0, in.last};
    return add_template(r, i, r->s->template->of[role].before);
}

/* ---- Elements ---- */

static int leave(void *reader) {
    struct reader *r = reader;
    const struct level level = r->level[--r->depth];
    if (level.role != PML_ROLES) {
        return add_template(r, level.node, r->s->template->of[level.role].behind);
    }
    r->is_open = 0;
    if (r->depth > 0) {
        r->level[r->depth - 1].last = level.module;
    }
    return 0;
}

static int read_element(struct reader *r, int i) {
    const struct pml_node *node = &r->p->document.node[i];
    const struct level *in = &r->level[r->depth - 1];
    int role = pml_role_of(pml_element_of(node->name));
    if (role != PML_ROLES) {
        return read_role(r, i, role);
    }
    if (in->role != PML_ROLES) {
        return pml_document_error(&r->p->document, node->offset,
                                  "<%s> may not stand in <%s>, which has text alone. Put it behind "
                                  "</%s>; or give the schema the role.",
                                  PML_SHORT(node->name), pml_role_names[in->role],
                                  pml_role_names[in->role]);
    }
    return read_import(r, i);
}

static int read_root(struct reader *r) {
    const struct pml_document *d = &r->p->document;
    const struct pml_node *root = &d->node[0];
    const char *name = r->s->about[0].name;
    int i = 0;
    if (strcmp(root->name, "prompt") != 0) {
        return pml_document_error(
            d, root->offset,
            "the root is <%s>. A prompt's is <prompt schema=\"%s\">; only the "
            "first file is a schema.",
            PML_SHORT(root->name), PML_SHORT(name));
    }
    while (i < root->n_attributes &&
           strcmp(d->attribute[root->first_attribute + i].name, "schema") != 0) {
        i++;
    }
    if (i == root->n_attributes) {
        return pml_document_error(d, root->offset,
                                  "<prompt> lacks its schema. Write <prompt schema=\"%s\">.",
                                  PML_SHORT(name));
    }
    const struct pml_attribute *a = &d->attribute[root->first_attribute + i];
    if (strcmp(a->value, name) != 0) {
        return pml_document_error(d, a->offset,
                                  "the prompt is of the schema \"%s\", and %s is \"%s\". Name the "
                                  "same.",
                                  PML_SHORT(a->value), r->s->document.path, PML_SHORT(name));
    }
    r->p->imported[0] = 1;
    r->level[r->depth++] = (struct level){0, PML_ROLES, 0, -1};
    return read_arguments(r, root, 0);
}

static int read_node(void *reader, int i) {
    struct reader *r = reader;
    const struct pml_node *node = &r->p->document.node[i];
    if (i == 0) {
        return read_root(r);
    }
    return node->name != NULL ? read_element(r, i) : read_text(r, node);
}

static const struct pml_visitor visitor = {read_node, leave};

/* ---- The whole ---- */

/* Two members of one union: `second` is the first import behind another member of its union. */
static void find_members(const struct pml_prompt *p, int *first, int *second) {
    const struct pml_schema *s = p->schema;
    int *least = cli_allocate(NULL, (size_t)s->n_parts, sizeof *least); /* of a union; 0: none */
    memset(least, 0, (size_t)s->n_parts * sizeof *least);
    for (int x = 1; x < s->n_parts; x++) {
        int parent = s->part[x].parent;
        if (s->part[parent].kind != CP_PART_UNION || p->imported[x] == 0) {
            continue;
        }
        int before = least[parent], behind = x;
        if (before == 0 || p->imported[x] < p->imported[before]) {
            behind = before;
            least[parent] = x;
        }
        if (behind > 0 && (*second == 0 || p->imported[behind] <= p->imported[*second])) {
            *second = behind;
        }
    }
    *first = least[s->part[*second].parent];
    free(least);
}

/* Two members of a union: the message is about the first import of the prompt that a member before
 * it excludes. */
static int check_imports(const struct reader *r) {
    const struct pml_prompt *p = r->p;
    const struct pml_schema *s = r->s;
    int first = 0, second = 0, line, column;
    if (cp_prompt_check(s->part, s->n_parts, p->imported) < 0) {
        return 0;
    }
    find_members(p, &first, &second);
    pml_document_place(&p->document, p->document.node[p->imported[first] - 1].offset, &line,
                       &column);
    return pml_document_error(
        &p->document, p->document.node[p->imported[second] - 1].offset,
        "%s and %s (line %d) are of one union, and exclude each other. Import "
        "one.",
        PML_SHORT(s->about[second].name), PML_SHORT(s->about[first].name), line);
}

static void *zeroed(size_t n, size_t size) {
    void *new = cli_allocate(NULL, n, size);
    memset(new, 0, (n > 0 ? n : 1) * size);
    return new;
}

int pml_prompt_from(struct pml_prompt *prompt, struct pml_document *document,
                    const struct pml_schema *schema) {
    struct pml_prompt *p = prompt;
    memset(p, 0, sizeof *p);
    p->document = *document;
    memset(document, 0, sizeof *document);
    p->schema = schema;
    p->texts.tokenizer = schema->texts.tokenizer;
    p->imported = zeroed((size_t)schema->n_parts, sizeof *p->imported);
    p->argument = zeroed((size_t)p->document.n_attributes, sizeof *p->argument);
    p->segment = zeroed(MOST_SEGMENTS, sizeof *p->segment);
    struct reader r = {.p = p, .s = schema};
    if (pml_document_walk(&r.p->document, &visitor, &r) != 0 || check_imports(&r) != 0) {
        return -1;
    }
    return pml_prompt_place(p);
}

void pml_prompt_free(struct pml_prompt *prompt) {
    pml_document_free(&prompt->document);
    pml_texts_free(&prompt->texts);
    free(prompt->imported);
    free(prompt->argument);
    free(prompt->segment);
    free(prompt->run);
    memset(prompt, 0, sizeof *prompt);
}
