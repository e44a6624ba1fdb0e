/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* getcwd */

#include "gate/source/lines.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/clock.h"
#include "gate/source/words.h"

static const char token[] = "code+0x";

/* The source's name as it was given to the compiler, if the compiler ran in this program's
 * directory. */
static const char *without_directory(const char *name) {
    char here[GATE_MOST_PATH];
    size_t length = getcwd(here, sizeof here) != NULL ? strlen(here) : 0;
    if (length > 0 && strncmp(name, here, length) == 0 && name[length] == '/') {
        name += length + 1;
    }
    return strncmp(name, "./", 2) == 0 ? name + 2 : name;
}

/* A line is "FILE:14" or "FILE:14 (discriminator 2)"; "??:0" and "FILE:?" say nothing. The length
 * of "FILE:14", or 0. */
static size_t place_length(const char *line) {
    size_t length = strcspn(line, "\n"), digits = 0;
    const char *note = strstr(line, " (discriminator");
    if (note != NULL && note < line + length) {
        length = (size_t)(note - line);
    }
    while (digits < length && isdigit((unsigned char)line[length - 1 - digits])) {
        digits++;
    }
    int known = digits > 0 && line[length - digits] != '0' && length > digits + 1 && line[0] != '?';
    return known ? length : 0;
}

/* The innermost inlined call that is not the executor's, else the outermost; and the line of the
 * same file from which it is called, if there is one. */
static void choose(const char *lines, char *place, size_t size) {
    size_t chosen = 0, file = 0; /* its length, and its file's name with the colon */
    place[0] = '\0';
    while (*lines != '\0') {
        size_t length = place_length(lines);
        if (length > 0 && length < size && chosen == 0) {
            memcpy(place, lines, length);
            place[length] = '\0';
            chosen = strstr(place, "kernels/simt/") == NULL ? length : 0;
            file = (size_t)(strrchr(place, ':') + 1 - place);
        } else if (length > file && chosen > 0 && strncmp(lines, place, file) == 0 &&
                   memchr(lines + file, ':', length - file) == NULL) {
            (void)snprintf(place + chosen, size - chosen, " (called in line %.*s)",
                           (int)(length - file), lines + file);
            return;
        }
        lines += strcspn(lines, "\n");
        lines += *lines == '\n';
    }
}

/* 0, or -1: it is not known. */
static int find_line(const char *object, const char *address, int digits, char *place,
                     size_t size) {
    static atomic_int hangs; /* 1: it did not answer once, and is not waited for again */
    struct gate_words words = {.n = 0};
    char lines[4 * GATE_MOST_PATH];
    double began = seconds_now();
    gate_words_split(&words, "addr2line --inlines --exe");
    gate_words_add(&words, "%s", object);
    gate_words_add(&words, "0x%.*s", digits, address);
    if (hangs || gate_words_read(&words, lines, sizeof lines) != 0) {
        hangs = hangs || seconds_now() - began >= GATE_READ_SECONDS;
        return -1;
    }
    choose(lines, place, size);
    return place[0] != '\0' ? 0 : -1;
}

void gate_name_lines(const char *object, char *text, size_t size) {
    char *at = text;
    while ((at = strstr(at, token)) != NULL) {
        const char *address = at + strlen(token);
        size_t digits = strspn(address, "0123456789abcdef");
        char place[GATE_MOST_PATH];
        if (find_line(object, address, (int)digits, place, sizeof place) == 0) {
            const char *name = without_directory(place), *rest = address + digits;
            size_t length = strlen(name), left = strlen(rest) + 1;
            if ((size_t)(at - text) + length + left <= size) {
                memmove(at + length, rest, left);
                memcpy(at, name, length);
                at += length;
                continue;
            }
        }
        at += strlen(token);
    }
}
