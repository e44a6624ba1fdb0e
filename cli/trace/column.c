/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/column.h"

#include <jansson.h>
#include <string.h>

struct text {
    const char *line;
    size_t length;
};

static size_t skip_space(struct text text, size_t at) {
    while (at < text.length && strchr(" \t\r\n", text.line[at]) != NULL && text.line[at] != 0) {
        at++;
    }
    return at;
}

/* From an opening quote to the place after the closing one. */
static size_t skip_string(struct text text, size_t at) {
    for (at++; at < text.length && text.line[at] != '"'; at++) {
        at += text.line[at] == '\\' ? 1 : 0;
    }
    return at + 1;
}

/* From the first character of a value to the place after its last. */
static size_t skip_value(struct text text, size_t at) {
    int depth = 0;
    do {
        if (at >= text.length) {
            return text.length;
        }
        char c = text.line[at];
        if (c == '"') {
            at = skip_string(text, at);
        } else if (c == '{' || c == '[') {
            depth++;
            at++;
        } else if (c == '}' || c == ']') {
            depth--;
            at++;
        } else if (depth > 0 || strchr(" \t\r\n,", c) != NULL) {
            at++;
        } else {
            while (at < text.length && strchr(" \t\r\n,]}", text.line[at]) == NULL) {
                at++;
            }
        }
    } while (depth > 0);
    return at;
}

/* Is the JSON string in line[from .. to) the field's name, whatever its escapes? */
static int is_name(struct text text, size_t from, size_t to, const char *field) {
    json_t *name = json_loadb(text.line + from, to - from, JSON_DECODE_ANY, NULL);
    const char *string = json_string_value(name);
    int same = string != NULL && strcmp(string, field) == 0;
    json_decref(name);
    return same;
}

/* Behind the separator that follows a value, where the next name or element begins. */
static size_t next_item(struct text text, size_t value) {
    size_t at = skip_space(text, skip_value(text, value));
    return skip_space(text, at + 1);
}

static size_t find_element(struct text text, size_t array, long index) {
    size_t at = skip_space(text, array + 1);
    for (; index > 0; index--) {
        at = next_item(text, at);
    }
    return at;
}

static size_t find_field(struct text text, const char *field, long index) {
    size_t start = skip_space(text, 0);
    size_t at = start;
    if (at >= text.length || text.line[at] != '{') {
        return start;
    }
    at = skip_space(text, at + 1);
    while (at < text.length && text.line[at] == '"') {
        size_t name_end = skip_string(text, at);
        size_t value = skip_space(text, skip_space(text, name_end) + 1); /* behind the colon */
        if (is_name(text, at, name_end, field)) {
            return index >= 0 ? find_element(text, value, index) : value;
        }
        at = next_item(text, value);
    }
    return start;
}

int trace_column(const char *line, size_t length, const char *field, long index) {
    struct text text = {line, length};
    size_t at = find_field(text, field, index);
    int column = 1;
    for (size_t i = 0; i < at && i < length; i++) {
        column += ((unsigned char)line[i] & 0xC0) != 0x80; /* not within a UTF-8 character */
    }
    return column;
}
