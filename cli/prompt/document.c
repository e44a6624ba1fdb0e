/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over a file's nodes; places in it, and messages about them (PML-12). */
#include "cli/prompt/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clean.h"
#include "cli/base/text.h"

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

void pml_document_place(const struct pml_document *document, size_t offset, int *line,
                        int *column) {
    size_t end = offset < document->size ? offset : document->size;
    *line = 1;
    *column = 1;
    size_t begin = strncmp(document->bytes, BYTE_ORDER_MARK, 3) == 0 ? 3 : 0; /* it is no column */
    for (size_t i = begin; i < end; i++) {
        if (document->bytes[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)document->bytes[i] & 0xC0) != 0x80) {
            ++*column; /* a byte that begins a character */
        }
    }
}

const char *pml_short(char quoted[PML_SHORT_ROOM], const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    for (int n = 0; n < PML_SHORT_MOST && *at != '\0'; n++) {
        (void)text_next_character(&at);
    }
    int size = (int)((const char *)at - text);
    if (*at == '\0') {
        (void)snprintf(quoted, PML_SHORT_ROOM, "%s", text);
    } else {
        (void)snprintf(quoted, PML_SHORT_ROOM, "%.*s… (%zu bytes)", size, text, strlen(text));
    }
    return quoted;
}

int pml_document_error(const struct pml_document *document, size_t offset, const char *format,
                       ...) {
    va_list arguments;
    char *text, *clean;
    size_t size;
    int line, column;
    pml_document_place(document, offset, &line, &column);
    FILE *out = text_open(&text, &size);
    fprintf(out, "%s:%d:%d: ", document->path, line, column);
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    text_close(out);
    clean = text_clean(text);
    fprintf(stderr, "%s\n", clean);
    free(clean);
    free(text);
    return -1;
}

int pml_document_walk(const struct pml_document *document, const struct pml_visitor *visitor,
                      void *reader) {
    int open[PML_MAX_DEPTH], depth = 0;
    for (int i = 0; i <= document->n_nodes; i++) {
        for (; depth > 0 && document->node[open[depth - 1]].end == i; depth--) {
            int status = visitor->leave(reader);
            if (status != 0) {
                return status;
            }
        }
        if (i == document->n_nodes) {
            break;
        }
        int status = visitor->enter(reader, i);
        if (status != 0) {
            return status;
        }
        if (document->node[i].name != NULL) {
            open[depth++] = i;
        }
    }
    return 0;
}

void pml_document_free(struct pml_document *document) {
    free(document->bytes);
    free(document->node);
    free(document->attribute);
    free(document->strings);
    memset(document, 0, sizeof *document);
}
