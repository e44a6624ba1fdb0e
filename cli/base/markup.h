/* SPDX-License-Identifier: Apache-2.0 */
/* Writes XML, and HTML that is also XML, with libxml2's writer. Every text and attribute is cleaned
 * and escaped here, so that no caller can forget it. A failure is remembered until markup_end(). */
#ifndef CHUNKPROOF_CLI_BASE_MARKUP_H
#define CHUNKPROOF_CLI_BASE_MARKUP_H

#include <stdio.h>

struct markup {
    struct _xmlBuffer *buffer;
    struct _xmlTextWriter *writer;
    int failed;
};

void markup_begin(struct markup *markup);

/* Closes all open elements, writes everything to the file and frees it. Returns 0, or -1: out of
 * memory, or the file could not be written. */
int markup_end(struct markup *markup, FILE *file);

void markup_open(struct markup *markup, const char *element);
void markup_close(struct markup *markup);

/* An attribute of the element that was opened last and is still empty. */
void markup_attribute(struct markup *markup, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void markup_text(struct markup *markup, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void markup_newline(struct markup *markup);

/* An element with a text; its class may be NULL. */
void markup_element(struct markup *markup, const char *element, const char *class,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Writes text of this program's own, unchanged. */
void markup_raw(struct markup *markup, const char *text);

#endif
