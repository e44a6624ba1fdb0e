/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "tests/pml_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *begin_listening(FILE **before, char **text, size_t *size) {
    FILE *kept = open_memstream(text, size);
    if (kept == NULL) {
        abort();
    }
    *before = stderr;
    stderr = kept; /* the C library lets it be another stream */
    return kept;
}

int pml_case_schema(struct pml_case *c, const char *tokens, const char *template, const char *text,
                    size_t size) {
    struct pml_document document;
    FILE *before;
    size_t n;
    int t = 0;
    memset(c, 0, sizeof *c);
    c->tokenizer = strcmp(tokens, "bytes") == 0 ? pml_tokens_bytes() : pml_tokens_words();
    while (strcmp(pml_templates[t].name, template) != 0) {
        t++;
    }
    FILE *kept = begin_listening(&before, &c->said, &n);
    int status =
        pml_document_parse(&document, "s.xml", text, size) != 0 ||
                pml_schema_from(&c->schema, &document, &c->tokenizer, &pml_templates[t]) != 0
            ? -1
            : 0;
    pml_document_free(&document);
    (void)fclose(kept);
    stderr = before;
    return status;
}

int pml_case_prompt(struct pml_case *c, const char *text, size_t size) {
    struct pml_document document;
    FILE *before;
    size_t n;
    free(c->said);
    FILE *kept = begin_listening(&before, &c->said, &n);
    int status = pml_document_parse(&document, "p.xml", text, size) != 0 ||
                         pml_prompt_from(&c->prompt, &document, &c->schema) != 0
                     ? -1
                     : 0;
    pml_document_free(&document);
    (void)fclose(kept);
    stderr = before;
    return status;
}

void pml_case_free_prompt(struct pml_case *c) {
    pml_prompt_free(&c->prompt);
}

void pml_case_free(struct pml_case *c) {
    pml_prompt_free(&c->prompt);
    pml_schema_free(&c->schema);
    pml_tokenizer_free(&c->tokenizer);
    free(c->said);
}

const char *pml_case_text(const struct pml_texts *texts, const struct pml_text *text) {
    return texts->text + text->at;
}
