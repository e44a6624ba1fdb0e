/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_CLEAN_H
#define CHUNKPROOF_CLI_BASE_CLEAN_H

#include <stdarg.h>
#include <stdio.h>

/* Makes foreign text safe for a terminal, JSON and XML: each byte that is not UTF-8, and each
 * control character, becomes \xNN. The caller frees the result. */
char *text_clean(const char *text);

/* Prints it so; and a line with a text that is freed. */
void text_put_clean(FILE *file, const char *text);
void text_put_line(FILE *file, const char *head, char *text, const char *end);

/* The same of a text by its format. */
char *text_clean_format(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));

/* Prints a line to the standard error, made safe in this way: it may quote foreign text. */
void text_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void text_say_all(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif
