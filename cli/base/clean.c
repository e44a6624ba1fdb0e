/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/base/clean.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/base/text.h"

/* Changes in which order a terminal shows what stands around it. */
static int is_bidirectional_control(long character) {
    return character == 0x61C || character == 0x200E || character == 0x200F ||
           (character >= 0x202A && character <= 0x202E) ||
           (character >= 0x2066 && character <= 0x2069);
}

static int is_plain(long character) {
    return character >= 0x20 && !(character >= 0x7F && character < 0xA0) &&
           (character & 0xFFFE) != 0xFFFE && !is_bidirectional_control(character);
}

char *text_clean(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    char *clean;
    size_t size;
    FILE *out = text_open(&clean, &size);
    while (*at != '\0') {
        const unsigned char *from = at;
        int plain = is_plain(text_next_character(&at));
        for (; from < at; from++) {
            fprintf(out, plain ? "%c" : "\\x%02X", *from);
        }
    }
    text_close(out);
    return clean;
}

void text_put_clean(FILE *file, const char *text) {
    char *clean = text_clean(text);
    fputs(clean, file);
    free(clean);
}

void text_put_line(FILE *file, const char *head, char *text, const char *end) {
    fputs(head, file);
    text_put_clean(file, text);
    fputs(end, file);
    free(text);
}

char *text_clean_format(const char *format, va_list arguments) {
    char *text, *clean;
    size_t size;
    FILE *out = text_open(&text, &size);
    vfprintf(out, format, arguments);
    text_close(out);
    clean = text_clean(text);
    free(text);
    return clean;
}

void text_say_all(const char *format, va_list arguments) {
    char *text = text_clean_format(format, arguments);
    fprintf(stderr, "%s\n", text);
    free(text);
}

void text_say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_say_all(format, arguments);
    va_end(arguments);
}
