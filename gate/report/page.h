/* SPDX-License-Identifier: Apache-2.0 */
/* What the pages of all kinds of kernels have in common. */
#ifndef CHUNKPROOF_GATE_REPORT_PAGE_H
#define CHUNKPROOF_GATE_REPORT_PAGE_H

#include <stdio.h>

#include "cli/base/markup.h"

/* All up to the body; the answer is "right", "wrong" or "none". */
void gate_page_begin(struct markup *markup, const char *kernel, const char *answer);

/* The footer, with the command that repeats the run, which is freed; then as markup_end(). */
int gate_page_end(struct markup *markup, char *again, FILE *file);

void gate_page_open(struct markup *markup, const char *element, const char *class);
void gate_page_close(struct markup *markup); /* and ends the line */

/* A term and its text, in a list; gate_page_own_term() frees the text, and writes nothing of
 * NULL. */
void gate_page_term(struct markup *markup, const char *term, const char *text);
void gate_page_own_term(struct markup *markup, const char *term, char *text);

/* A command to copy, which is freed; nothing of NULL. */
void gate_page_command(struct markup *markup, const char *what, char *command);

/* A cell of a table; a number above 0 that is bad looks so. And the headings: words, then
 * numbers from the third on. */
void gate_page_number(struct markup *markup, long long n, int is_bad);
void gate_page_headings(struct markup *markup, const char *const *heading, int n);

#endif
