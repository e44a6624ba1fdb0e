/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include "cli/base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/command.h"

static void out_of_memory(void) {
    fputs("chunkproof: out of memory (is it limited? see ulimit -v)\n", stderr);
    exit(EXIT_BAD_USE);
}

void *cli_allocate(void *old, size_t n, size_t size) {
    size_t count = n > 0 ? n : 1;
    void *new = count <= SIZE_MAX / size ? realloc(old, count * size) : NULL;
    if (new == NULL) {
        out_of_memory();
    }
    return new;
}

void *cli_grow(void *old, int n, size_t size) {
    return n == 0 || (n & (n - 1)) == 0 ? cli_allocate(old, n > 0 ? (size_t)n * 2 : 1, size) : old;
}

FILE *text_open(char **text, size_t *size) {
    FILE *out = open_memstream(text, size);
    if (out == NULL) {
        out_of_memory();
    }
    return out;
}

void text_close(FILE *out) {
    int failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        out_of_memory();
    }
}

/* ---- UTF-8 ---- */

long text_next_character(const unsigned char **text) {
    static const long smallest[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *at = *text;
    int more = at[0] < 0x80 ? 0 : at[0] < 0xC0 ? -1 : at[0] < 0xE0 ? 1 : at[0] < 0xF0 ? 2 : 3;
    *text = at + 1;
    if (more < 0 || at[0] >= 0xF8) {
        return -1;
    }
    long character = more == 0 ? at[0] : at[0] & (0x3F >> more);
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return -1;
        }
        character = character << 6 | (at[i] & 0x3F);
    }
    if (character < smallest[more] || character > 0x10FFFF ||
        (character >= 0xD800 && character <= 0xDFFF)) {
        return -1;
    }
    *text = at + 1 + more;
    return character;
}

int text_is_plain(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    while (*at != '\0') {
        long character = text_next_character(&at);
        int blank = character >= '\t' && character <= '\r';
        if ((character < 0x20 && !blank) || (character >= 0x7F && character < 0xA0) ||
            (character & 0xFFFE) == 0xFFFE) {
            return 0;
        }
    }
    return 1;
}

/* Nought for what combines with the character before it, two for East Asian wide characters and
 * pictographs, else one. */
static int character_columns(long character) {
    static const struct {
        long first, last;
        int columns;
    } ranges[] = {
        {0x0300, 0x036F, 0}, {0x200B, 0x200F, 0},   {0xFE00, 0xFE0F, 0},   {0x1100, 0x115F, 2},
        {0x2E80, 0xA4CF, 2}, {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},   {0xFE30, 0xFE6F, 2},
        {0xFF00, 0xFF60, 2}, {0x1F300, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last) {
            return ranges[i].columns;
        }
    }
    return 1;
}

int text_columns(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    int columns = 0;
    while (*at != '\0') {
        columns += character_columns(text_next_character(&at));
    }
    return columns;
}

char *text_cut(const char *text, int columns, const char *mark) {
    const unsigned char *at = (const unsigned char *)text;
    int cut = text_columns(text) > columns;
    int room = cut ? columns - text_columns(mark) : columns;
    size_t length = 0;
    while (*at != '\0') {
        room -= character_columns(text_next_character(&at));
        if (room < 0) {
            break;
        }
        length = (size_t)(at - (const unsigned char *)text);
    }
    size_t marked = cut ? strlen(mark) : 0;
    char *copy = cli_allocate(NULL, length + marked + 1, 1);
    memcpy(copy, text, length);
    memcpy(copy + length, mark, marked);
    copy[length + marked] = '\0';
    return copy;
}

/* ---- Output ---- */

void text_put_cut(FILE *out, const char *text, int columns, const char *mark) {
    char *copy = text_cut(text, columns, mark);
    fputs(copy, out);
    free(copy);
}

void text_put_blanks(FILE *out, int n) {
    for (int i = 0; i < n; i++) {
        fputc(' ', out);
    }
}

void text_put_wrapped(FILE *out, const char *text, int from, int indent, int width) {
    int column = from;
    int at_start = 1; /* of a line: whatever comes next is put there */
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, " ");
        char *word = cli_allocate(NULL, length + 1, 1);
        memcpy(word, at, length);
        word[length] = '\0';
        int columns = text_columns(word);
        if (!at_start && column + 1 + columns > width) {
            fputc('\n', out);
            text_put_blanks(out, indent);
            column = indent;
            at_start = 1;
        }
        fprintf(out, "%s%s", at_start ? "" : " ", word);
        column += columns + (at_start ? 0 : 1);
        at_start = 0;
        at += length;
        at += strspn(at, " ");
        free(word);
    }
    fputc('\n', out);
}

void text_put_escaped(FILE *out, const char *text) {
    for (const char *at = text; *at != '\0'; at++) {
        switch (*at) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*at, out);
        }
    }
}
