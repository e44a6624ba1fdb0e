/* SPDX-License-Identifier: Apache-2.0 */
/* No role of a prompt stands within one of its schema (PML-8). */
#include <stdlib.h>

#include "cli/base/text.h"
#include "cli/prompt/pml.h"

/* A role of the schema that a prompt has tokens of. */
struct held {
    const struct pml_role_part *role;
    int first, end; /* the positions of its first token, and behind its last one */
};

/* The part whose token a run begins with; -1: new text, of no part. */
static int part_of(const struct pml_prompt *p, const struct pml_run *run) {
    return run->kind == PML_CACHED     ? run->from
           : run->kind == PML_ARGUMENT ? p->argument[run->from].param
                                       : -1;
}

/* The roles that the prompt has tokens of, in the order of positions: it is that of parts, as of a
 * union there is one member. Returns how many. */
static int find_held(const struct pml_prompt *p, struct held *held) {
    const struct pml_schema *s = p->schema;
    int n = 0, next = 0;
    for (int i = 0; i < p->n_runs; i++) {
        const struct pml_run *run = &p->run[i];
        int x = part_of(p, run);
        while (x >= 0 && next < s->n_roles && s->role[next].end <= x) {
            next++;
        }
        if (x < 0 || next == s->n_roles || x < s->role[next].first) {
            continue;
        }
        if (n == 0 || held[n - 1].role != &s->role[next]) {
            held[n++] = (struct held){&s->role[next], run->begin, 0};
        }
        held[n - 1].end = run->begin + run->size;
    }
    return n;
}

/* 0: the role has tokens before the position and behind it. */
static int by_position(const void *position, const void *held) {
    const int *placed = position;
    const struct held *h = held;
    return *placed <= h->first ? -1 : *placed >= h->end;
}

static int stands_within(const struct pml_prompt *p, const struct pml_segment *segment,
                         const struct pml_role_part *role) {
    const struct pml_node *node = &p->document.node[segment->role];
    const char *outer = pml_role_names[role->role];
    int line, column;
    pml_document_place(&p->schema->document, role->offset, &line, &column);
    return pml_document_error(&p->document, node->offset,
                              "<%s> would stand within the <%s> of %s:%d:%d, in the room of what "
                              "is left out there. Put <%s> before all imports, so that it stands "
                              "behind them; or import what is left out; or write the text without "
                              "<%s>, as that of <%s>.",
                              node->name, outer, p->schema->document.path, line, column, node->name,
                              node->name, outer);
}

int pml_roles_check(const struct pml_prompt *prompt) {
    const struct pml_prompt *p = prompt;
    struct held *held = cli_allocate(NULL, (size_t)p->schema->n_roles, sizeof *held);
    int n = find_held(p, held), status = 0;
    for (int i = 0; i < p->n_segments && status == 0; i++) {
        const struct pml_segment *segment = &p->segment[i];
        const struct held *around =
            bsearch(&segment->placed, held, (size_t)n, sizeof *held, by_position);
        int has_role = segment->role > 0 && segment->text.n_tokens > 0;
        status = has_role && around != NULL ? stands_within(p, segment, around->role) : 0;
    }
    free(held);
    return status;
}
