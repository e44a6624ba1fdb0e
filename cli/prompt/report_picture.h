/* SPDX-License-Identifier: Apache-2.0 */
/* What the pictures of a report are made of. */
#ifndef CHUNKPROOF_CLI_PROMPT_REPORT_PICTURE_H
#define CHUNKPROOF_CLI_PROMPT_REPORT_PICTURE_H

#include "cli/base/markup.h"
#include "cli/prompt/report.h"

#define PICTURE_MARGIN 20
#define PICTURE_WIDTH  1160 /* without margins: of all positions */
#define PICTURE_LETTER 7.3  /* width of a letter of 12 pixels, rounded up */

struct picture {
    struct markup m;
    int positions; /* in all of the width */
    int top;       /* of what comes next */
};

void picture_text(struct picture *p, const char *class, double x, double y, const char *text);

/* A text on a pattern or on lines: once in white and wide, and once upon that. */
void picture_label(struct picture *p, const char *class, double x, double y, const char *text);
void picture_line(struct picture *p, const char *class, double x1, double y1, double x2, double y2);

/* The caller adds a title, if there is one, and closes the element. */
void picture_open_rect(struct picture *p, const char *class, double x, double y, double width,
                       double height);

/* The class of what a run's tokens are: cached, of an argument, new. */
const char *picture_class(enum pml_run_kind kind);

/* Which part of a prompt sees which: a matrix of each prompt, below a legend. The first one moves
 * `top` by as much as the second one says; without a prompt both do nothing. */
void picture_matrices(struct picture *p, const struct pml_prompt *prompts, int n);
int picture_matrices_height(const struct pml_prompt *prompts, int n);

#endif
