/* SPDX-License-Identifier: Apache-2.0 */
/* No marker of a template is made of texts beside each other (PML-8). All texts of a prompt stand
 * one behind the other here, in the order of positions, a template's own as bytes that no text has:
 *
 *     texts     Tags: [   /INST] Sure   ]. Answer.   and a template's
 *     together  Tags: [/INST] Sure]. Answer.\1
 *                     ^ a marker */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/pml.h"

#define TEMPLATE '\1' /* XML has no such character */

static const struct pml_text *text_of(const struct pml_prompt *p, const struct pml_run *run) {
    return run->kind == PML_CACHED     ? &p->schema->about[run->from].text
           : run->kind == PML_ARGUMENT ? &p->argument[run->from].text
                                       : &p->segment[run->from].text;
}

/* The text of a run, as above. */
static void copy_text(const struct pml_prompt *p, const struct pml_run *run, char *to) {
    const struct pml_texts *texts = run->kind == PML_CACHED ? &p->schema->texts : &p->texts;
    const struct pml_text *text = text_of(p, run);
    memcpy(to, texts->text + text->at, text->size);
    for (int i = 0; i < text->n_templates; i++) {
        const struct pml_span *span = &texts->template_text[text->first_template + i];
        memset(to + (span->begin - text->at), TEMPLATE, span->end - span->begin);
    }
}

/* Where run i begins in them; the last number is their size. */
static size_t *begins_of(const struct pml_prompt *p) {
    size_t *begin = cli_allocate(NULL, (size_t)p->n_runs + 1, sizeof *begin);
    begin[0] = 0;
    for (int i = 0; i < p->n_runs; i++) {
        begin[i + 1] = begin[i] + text_of(p, &p->run[i])->size;
    }
    return begin;
}

/* The message is about the first text of the prompt in it, or, without one, of the schema. */
static int say(const struct pml_prompt *p, const size_t *begin, size_t at, const char *marker) {
    const struct pml_document *document = &p->document;
    int first = 0;
    while (begin[first + 1] <= at) {
        first++;
    }
    int own = first;
    while (own < p->n_runs && begin[own] < at + strlen(marker) && p->run[own].kind == PML_CACHED) {
        own++;
    }
    size_t offset;
    if (own == p->n_runs || begin[own] >= at + strlen(marker)) {
        document = &p->schema->document;
        offset = p->schema->about[p->run[first].from].offset;
    } else if (p->run[own].kind == PML_ARGUMENT) {
        offset = p->argument[p->run[own].from].offset;
    } else {
        offset = p->segment[p->run[own].from].offset;
    }
    return pml_document_error(document, offset,
                              "this text and what it stands beside make %s, by which the template "
                              "%s divides roles. Change one of them, or choose the template none.",
                              marker, p->schema->template->name);
}

int pml_markers_check(const struct pml_prompt *prompt) {
    const struct pml_prompt *p = prompt;
    const char *const *marker = p->schema->template->markers;
    size_t *begin = begins_of(p);
    char *all = cli_allocate(NULL, begin[p->n_runs] + 1, 1), *found = NULL;
    for (int i = 0; i < p->n_runs; i++) {
        copy_text(p, &p->run[i], all + begin[i]);
    }
    all[begin[p->n_runs]] = '\0';
    int i = 0;
    while (marker[i] != NULL && (found = strstr(all, marker[i])) == NULL) {
        i++;
    }
    int status = found == NULL ? 0 : say(p, begin, (size_t)(found - all), marker[i]);
    free(all);
    free(begin);
    return status;
}
