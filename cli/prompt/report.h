/* SPDX-License-Identifier: Apache-2.0 */
/* A schema and its prompts as text, JSON and SVG. */
#ifndef CHUNKPROOF_CLI_PROMPT_REPORT_H
#define CHUNKPROOF_CLI_PROMPT_REPORT_H

#include <stdio.h>

#include "cli/prompt/pml.h"

#define REPORT_MOST_DRAWN 2000 /* parts, and runs of a prompt: a larger picture is not readable */

/* "module", "union", "text", "param". */
const char *report_kind(int kind);

/* A text in one line: line ends and tabs as \n and \t, what could steer a terminal as \xNN. The
 * caller frees it. */
char *report_line(const char *text);

/* "the schema, trip-plan, trip-plan/overseas": modules. The caller frees it. */
char *report_paths(const struct pml_schema *schema, const int *module, int n);

/* A text in one line, as a reader takes it in: " | " between two roles that nothing else divides,
 * and quotes around blanks alone. The caller frees it. */
char *report_words(const struct pml_texts *texts, const struct pml_text *text);
char *report_run_words(const struct pml_prompt *prompt, const struct pml_run *run);

/* What a run is, "part 3: Plan a trip of", "argument plan/days: 3 days" or "new text: ...". The
 * caller frees it. The label is what stands before the colon. */
char *report_label(const struct pml_prompt *prompt, const struct pml_run *run);
char *report_run(const struct pml_prompt *prompt, const struct pml_run *run);
const char *report_run_text(const struct pml_prompt *prompt, const struct pml_run *run);
const struct pml_text *report_text_of(const struct pml_prompt *prompt, const struct pml_run *run);

void report_text(FILE *out, const struct pml_schema *schema, const struct pml_prompt *prompts,
                 int n_prompts);

/* Of an answer: behind the report of its prompt. */
void report_answer_text(FILE *out, const struct prompt_answer *answer);

/* 0, or -1: no memory, or the file could not be written. */
int report_json(FILE *out, const struct pml_schema *schema, const struct pml_prompt *prompts,
                int n_prompts);

/* 1 when a picture is readable; else 0. */
int report_is_drawable(const struct pml_schema *schema, const struct pml_prompt *prompts, int n);
int report_svg(FILE *out, const struct pml_schema *schema, const struct pml_prompt *prompts,
               int n_prompts);

#endif
