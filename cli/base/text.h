/* SPDX-License-Identifier: Apache-2.0 */
/* Text: streams into memory, UTF-8, columns of a terminal, wrapping, escaping. */
#ifndef CHUNKPROOF_CLI_BASE_TEXT_H
#define CHUNKPROOF_CLI_BASE_TEXT_H

#include <stdio.h>

/* realloc() that ends the command with EXIT_BAD_USE when the system gives no memory. */
void *cli_allocate(void *old, size_t n, size_t size);

/* A stream into memory; text_close() closes it and makes *text what was written. */
FILE *text_open(char **text, size_t *size);
void text_close(FILE *out);

/* Decodes one character at *text and steps over it; -1, stepping over one byte, when there is none: a stray byte, an
 * overlong form, a surrogate, more than U+10FFFF. */
long text_next_character(const unsigned char **text);

/* 1 when the text is UTF-8 without control characters (blanks and line ends excepted) and without
 * what XML cannot hold; else 0. */
int text_is_plain(const char *text);

/* Columns of a terminal that the text takes. */
int text_columns(const char *text);

/* Copies as much of the text as fits into `columns`, the mark at the end of it when it was cut.
 * The result is the caller's to free. */
char *text_cut(const char *text, int columns, const char *mark);

void text_put_cut(FILE *out, const char *text, int columns, const char *mark);
void text_put_blanks(FILE *out, int n);

/* The text with a line end behind it, broken between words where it would pass column `width`. The
 * line is at column `from` already; the others are indented. */
void text_put_wrapped(FILE *out, const char *text, int from, int indent, int width);

/* With & < > " ' escaped, for XML and for DOT's HTML-like labels. */
void text_put_escaped(FILE *out, const char *text);

#endif
