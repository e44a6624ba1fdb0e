/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/base/markup.h"

#include <libxml/xmlwriter.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clean.h"
#include "cli/base/text.h"

static void did(struct markup *m, int result) {
    m->failed = m->failed || result < 0;
}

void markup_begin(struct markup *m) {
    m->buffer = xmlBufferCreate();
    m->writer = m->buffer != NULL ? xmlNewTextWriterMemory(m->buffer, 0) : NULL;
    m->failed = m->writer == NULL;
}

int markup_end(struct markup *m, FILE *file) {
    did(m, xmlTextWriterEndDocument(m->writer));
    xmlFreeTextWriter(m->writer); /* it has written all to the buffer then */
    if (!m->failed) {
        size_t size = (size_t)xmlBufferLength(m->buffer);
        m->failed = fwrite(xmlBufferContent(m->buffer), 1, size, file) != size;
    }
    xmlBufferFree(m->buffer);
    return m->failed ? -1 : 0;
}

void markup_open(struct markup *m, const char *element) {
    did(m, xmlTextWriterStartElement(m->writer, BAD_CAST element));
}

/* HTML knows no <p/>: an empty element is written so only where it must be. */
void markup_close(struct markup *m) {
    did(m, xmlTextWriterFullEndElement(m->writer));
}

void markup_attribute(struct markup *m, const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = text_clean_format(format, arguments);
    va_end(arguments);
    did(m, xmlTextWriterWriteAttribute(m->writer, BAD_CAST name, BAD_CAST text));
    free(text);
}

void markup_text(struct markup *m, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = text_clean_format(format, arguments);
    va_end(arguments);
    did(m, xmlTextWriterWriteString(m->writer, BAD_CAST text));
    free(text);
}

void markup_element(struct markup *m, const char *element, const char *class, const char *format,
                    ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = text_clean_format(format, arguments);
    va_end(arguments);
    markup_open(m, element);
    if (class != NULL) {
        markup_attribute(m, "class", "%s", class);
    }
    did(m, xmlTextWriterWriteString(m->writer, BAD_CAST text));
    markup_close(m);
    free(text);
}

void markup_newline(struct markup *m) {
    markup_raw(m, "\n");
}

void markup_raw(struct markup *m, const char *text) {
    did(m, xmlTextWriterWriteRaw(m->writer, BAD_CAST text));
}
