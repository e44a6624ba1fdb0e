/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the Prompt Markup Language: a schema and a prompt from memory, and what is said of
 * them. */
#ifndef CHUNKPROOF_TESTS_PML_CASE_H
#define CHUNKPROOF_TESTS_PML_CASE_H

#include "cli/prompt/pml.h"

struct pml_case {
    struct pml_tokenizer tokenizer;
    struct pml_schema schema;
    struct pml_prompt prompt;
    char *said; /* to the standard error */
};

/* What tokens and templates are: "words" or "bytes", "none" ... Each returns what is read with: 0,
 * or -1. The files are called "s.xml" and "p.xml". */
int pml_case_schema(struct pml_case *c, const char *tokens, const char *template, const char *text,
                    size_t size);
int pml_case_prompt(struct pml_case *c, const char *text, size_t size);

/* Before another prompt of the same schema. */
void pml_case_free_prompt(struct pml_case *c);
void pml_case_free(struct pml_case *c);

/* The text of a part, a segment or an argument. */
const char *pml_case_text(const struct pml_texts *texts, const struct pml_text *text);

#endif
