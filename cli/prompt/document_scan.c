/* SPDX-License-Identifier: Apache-2.0 */
/* A file's bytes, before a parser of XML gets them: the encoding, and the number of attributes,
 * which a parser compares with each other. Then where the attributes of a tag stand. */
#define _POSIX_C_SOURCE 200809L /* strncasecmp */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/base/text.h"
#include "cli/prompt/document.h"

int pml_is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ---- The encoding ---- */

static int is_utf_16(const unsigned char *bytes, size_t size) {
    return size >= 2 &&
           ((bytes[0] == 0xFF && bytes[1] == 0xFE) || (bytes[0] == 0xFE && bytes[1] == 0xFF) ||
            (bytes[0] == '<' && bytes[1] == 0) || (bytes[0] == 0 && bytes[1] == '<'));
}

static int check_encoding(const struct pml_document *d) {
    const unsigned char *bytes = (const unsigned char *)d->bytes, *at = bytes;
    if (is_utf_16(bytes, d->size)) {
        return pml_document_error(d, 0, "this is UTF-16 or UTF-32. Save the file as UTF-8.");
    }
    while (at < bytes + d->size) {
        size_t offset = (size_t)(at - bytes);
        long character = text_next_character(&at);
        if (character < 0) {
            return pml_document_error(
                d, offset, "the byte 0x%02X is not UTF-8. Save the file as UTF-8.", bytes[offset]);
        }
        if (character == 0) {
            return pml_document_error(d, offset, "a NUL is no text. Remove it.");
        }
    }
    return 0;
}

/* The encoding that a declaration names; no other than UTF-8 gets to the parser, which would read
 * the file by it. */
static int check_declaration(const struct pml_document *d) {
    const char *at = d->bytes + (strncmp(d->bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0);
    if (strncmp(at, "<?xml", 5) != 0 || !pml_is_space(at[5])) {
        return 0;
    }
    const char *end = strchr(at, '>'), *name = strstr(at, "encoding");
    if (end == NULL || name == NULL || name > end) {
        return 0;
    }
    name += strcspn(name, "\"'>");
    size_t size = *name == '>' ? 0 : strcspn(name + 1, *name == '"' ? "\">" : "'>");
    if (*name == '>' || (size == 5 && strncasecmp(name + 1, "UTF-8", 5) == 0)) {
        return 0;
    }
    char *encoding = cli_allocate(NULL, size + 1, 1);
    memcpy(encoding, name + 1, size);
    encoding[size] = '\0';
    pml_document_error(d, 0, "the encoding is \"%s\". Save the file as UTF-8, and say so.",
                       PML_SHORT(encoding));
    free(encoding);
    return -1;
}

/* ---- Tags ---- */

/* The end of what begins at `at` with `begin` and ends with `end`; NULL: it is something else.
 * Without an end it takes the rest of the file, so that each byte is searched once. */
static const char *end_of(const char *at, const char *begin, const char *end) {
    if (strncmp(at, begin, strlen(begin)) != 0) {
        return NULL;
    }
    const char *found = strstr(at + strlen(begin), end);
    return found != NULL ? found + strlen(end) : at + strlen(at);
}

/* What is in no tag: "<" begins a comment, a CDATA section or a processing instruction. */
static const char *end_of_other(const char *at) {
    const char *end = end_of(at, "<!--", "-->");
    end = end != NULL ? end : end_of(at, "<![CDATA[", "]]>");
    return end != NULL ? end : end_of(at, "<?", "?>");
}

/* The next of these characters from `at` on, or the end. Unlike strcspn() under a sanitizer, it
 * does not look at what is behind that. */
static const char *find(const char *at, const char *characters) {
    while (*at != '\0' && strchr(characters, *at) == NULL) {
        at++;
    }
    return at;
}

/* Behind the next value in quotes; the end, where there is none. */
static const char *behind_value(const char *at) {
    at = find(at, "\"'");
    if (*at != '\0') {
        at = find(at + 1, *at == '"' ? "\"" : "'");
    }
    return *at != '\0' ? at + 1 : at;
}

/* The end of the tag at `at`, and its attributes: values in quotes. */
static const char *end_of_tag(const char *at, int *n_values) {
    *n_values = 0;
    while (*at != '\0' && *at != '>') {
        if (*at == '"' || *at == '\'') {
            at = behind_value(at);
            ++*n_values;
        } else {
            at++;
        }
    }
    return at;
}

static int check_tags(const struct pml_document *d) {
    const char *at = find(d->bytes, "<");
    while (*at != '\0') {
        const char *end = end_of_other(at);
        if (end == NULL) {
            int n;
            end = end_of_tag(at, &n);
            if (n > PML_MAX_ATTRIBUTES) {
                return pml_document_error(d, (size_t)(at - d->bytes),
                                          "a tag has %d attributes, and may have %d. Divide it.", n,
                                          PML_MAX_ATTRIBUTES);
            }
        }
        at = find(end, "<");
    }
    return 0;
}

int pml_document_scan(const struct pml_document *document) {
    return check_encoding(document) != 0 || check_declaration(document) != 0 ||
                   check_tags(document) != 0
               ? -1
               : 0;
}

/* ---- Texts ---- */

/* Behind "&#": white space by its number; NULL: it is something else. */
static const char *end_of_space_number(const char *at) {
    char *end;
    int base = *at == 'x' ? 16 : 10;
    at += *at == 'x';
    unsigned long number = strtoul(at, &end, base);
    int is_space = number == ' ' || number == '\t' || number == '\n' || number == '\r';
    return is_space && *end == ';' ? end + 1 : NULL;
}

static const char *end_of_spaces(const char *at) {
    while (pml_is_space(*at)) {
        at++;
    }
    return at;
}

/* The end of what is nothing, or white space alone, at `at`; `at` itself: it is neither. */
static const char *end_of_nothing(const char *at) {
    const char *end = end_of(at, "<!--", "-->");
    if (end == NULL && strncmp(at, "<![CDATA[", 9) == 0) {
        end = end_of_spaces(at + 9);
        end = strncmp(end, "]]>", 3) == 0 ? end + 3 : NULL;
    }
    if (end == NULL && strncmp(at, "&#", 2) == 0) {
        end = end_of_space_number(at + 2);
    }
    return end != NULL ? end : end_of_spaces(at);
}

size_t pml_document_text(const struct pml_document *document, size_t offset) {
    const char *at = document->bytes + offset, *end = end_of_nothing(at);
    while (end != at) {
        at = end;
        end = end_of_nothing(at);
    }
    return (size_t)(at - document->bytes);
}

/* ---- Attributes ---- */

int pml_document_namespace(const struct pml_document *document, size_t offset, size_t *at) {
    const char *name = document->bytes + offset;
    name = find(name, " \t\r\n/>");
    for (;;) {
        name = end_of_spaces(name);
        if (*name == '/' || *name == '>' || *name == '\0') {
            return 0;
        }
        if (strncmp(name, "xmlns", 5) == 0 && *end_of_spaces(name + 5) == '=') {
            *at = (size_t)(name - document->bytes);
            return 1;
        }
        if (strncmp(name, "xmlns:", 6) == 0) {
            *at = (size_t)(name - document->bytes);
            return 1;
        }
        name = behind_value(name);
    }
}

size_t pml_document_attribute(const struct pml_document *document, size_t offset, int i) {
    const char *at = document->bytes + offset;
    at = find(at, " \t\r\n/>"); /* the element's name */
    for (;; i--) {
        at = end_of_spaces(at);
        if (i == 0 || *at == '\0') {
            return (size_t)(at - document->bytes);
        }
        at = behind_value(at);
    }
}
