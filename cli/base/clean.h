/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_CLEAN_H
#define CHUNKPROOF_CLI_BASE_CLEAN_H

#include <stdarg.h>

/* Makes foreign text safe for a terminal, JSON and XML: each byte that is not UTF-8, and each
 * control character, becomes \xNN. The caller frees the result. */
char *text_clean(const char *text);

/* The same of a text by its format. */
char *text_clean_format(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));

/* Prints a line to the standard error, made safe in this way: it may quote foreign text. */
void text_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void text_say_all(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif
