/* SPDX-License-Identifier: Apache-2.0 */
/* Text: streams into memory, UTF-8, columns of a terminal, wrapping, escaping. */
#ifndef CHUNKPROOF_CLI_BASE_TEXT_H
#define CHUNKPROOF_CLI_BASE_TEXT_H

#include <stdio.h>

/* A realloc() that ends the command with EXIT_BAD_USE when memory runs out. */
void *cli_allocate(void *old, size_t n, size_t size);

/* Room for one more behind n, when a power of two is full. An array grows by this alone. */
void *cli_grow(void *old, int n, size_t size);

/* A stream into memory; text_close() closes it and sets *text to what was written. */
FILE *text_open(char **text, size_t *size);
void text_close(FILE *out);

/* Decodes one character at *text and steps over it. Returns -1 and steps over one byte if there is
 * no valid character: a stray byte, an overlong form, a surrogate, or more than U+10FFFF. */
long text_next_character(const unsigned char **text);

/* 1 when the text is UTF-8, without control characters other than blanks and line ends, and without
 * characters that XML cannot hold; else 0. */
int text_is_plain(const char *text);

/* How many columns of a terminal the text takes. */
int text_columns(const char *text);

/* Copies as much of the text as fits into `columns`. If the text is cut, the copy ends with the
 * mark. The caller frees the result. */
char *text_cut(const char *text, int columns, const char *mark);

void text_put_cut(FILE *out, const char *text, int columns, const char *mark);
void text_put_blanks(FILE *out, int n);

/* Prints the text and a line end, broken between words where a line would pass column `width`. The
 * first line starts at column `from`; the others are indented. */
void text_put_wrapped(FILE *out, const char *text, int from, int indent, int width);

/* With & < > " ' escaped, for XML and for DOT's HTML-like labels. */
void text_put_escaped(FILE *out, const char *text);

#endif
