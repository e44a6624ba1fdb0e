/* SPDX-License-Identifier: Apache-2.0 */
/* Where all tokens of a prompt stand (MOD-1, MOD-6), and that they may. */
#include <stdlib.h>

#include "cli/base/text.h"
#include "cli/prompt/pml.h"

static int place_segments(struct pml_prompt *p) {
    const struct pml_schema *s = p->schema;
    size_t n = (size_t)p->n_segments;
    struct cp_segment *segment = cli_allocate(NULL, n, sizeof *segment);
    int *placed = cli_allocate(NULL, n, sizeof *placed), status = CP_OK;
    for (int i = 0; i < p->n_segments; i++) {
        segment[i] = (struct cp_segment){p->segment[i].behind, p->segment[i].text.n_tokens};
    }
    if (p->n_segments > 0) {
        status = cp_prompt_place(s->part, s->n_parts, s->begin, s->size, p->imported, segment,
                                 p->n_segments, placed);
    }
    for (int i = 0; i < p->n_segments && status == CP_OK; i++) {
        p->segment[i].placed = placed[i];
    }
    if (status != CP_OK) {
        int first = 0;
        while (placed[first] >= 0) {
            first++;
        }
        status = pml_document_error(&p->document, p->segment[first].offset,
                                    "this text ends behind position %d, the last. Shorten it, or "
                                    "the schema.",
                                    CP_MAX_POSITIONS - 1);
    }
    free(segment);
    free(placed);
    return status == CP_OK ? 0 : -1;
}

static void add_run(struct pml_prompt *p, enum pml_run_kind kind, int begin, int size, int from) {
    if (size > 0) {
        p->run[p->n_runs++] = (struct pml_run){kind, begin, size, from};
        *(kind == PML_CACHED ? &p->n_cached : &p->n_new) += size;
    }
}

static int by_position(const void *left, const void *right) {
    const struct pml_run *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

int pml_prompt_place(struct pml_prompt *prompt) {
    struct pml_prompt *p = prompt;
    const struct pml_schema *s = p->schema;
    if (place_segments(p) != 0) {
        return -1;
    }
    size_t most = (size_t)s->n_parts + (size_t)p->n_arguments + (size_t)p->n_segments;
    p->run = cli_allocate(NULL, most, sizeof *p->run);
    for (int x = 0; x < s->n_parts; x++) {
        if (s->part[x].kind == CP_PART_TEXT && p->imported[s->part[x].parent] != 0) {
            add_run(p, PML_CACHED, s->begin[x], s->size[x], x);
        }
    }
    for (int i = 0; i < p->n_arguments; i++) {
        add_run(p, PML_ARGUMENT, s->begin[p->argument[i].param], p->argument[i].text.n_tokens, i);
    }
    for (int i = 0; i < p->n_segments; i++) {
        add_run(p, PML_NEW, p->segment[i].placed, p->segment[i].text.n_tokens, i);
    }
    qsort(p->run, (size_t)p->n_runs, sizeof *p->run, by_position);
    return pml_roles_check(p) != 0 ? -1 : pml_markers_check(p);
}
