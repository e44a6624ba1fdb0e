/* SPDX-License-Identifier: Apache-2.0 */
/* XML, and HTML that is XML as well, by libxml2's writer: every text and attribute is cleaned and escaped here, so that
 * it cannot be forgotten. What fails is remembered to the end. */
#ifndef CHUNKPROOF_CLI_BASE_MARKUP_H
#define CHUNKPROOF_CLI_BASE_MARKUP_H

#include <stdio.h>

struct markup {
    struct _xmlBuffer *buffer;
    struct _xmlTextWriter *writer;
    int failed;
};

void markup_begin(struct markup *markup);

/* Closes what is open, writes it all and frees it. 0, or -1: no memory, or it could not be written. */
int markup_end(struct markup *markup, FILE *file);

void markup_open(struct markup *markup, const char *element);
void markup_close(struct markup *markup);

/* Of the element that was opened last, before anything is in it. */
void markup_attribute(struct markup *markup, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void markup_text(struct markup *markup, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void markup_newline(struct markup *markup);

/* An element with a text; its class may be NULL. */
void markup_element(struct markup *markup, const char *element, const char *class,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Of this program's own making, as it is. */
void markup_raw(struct markup *markup, const char *text);

#endif
