/* SPDX-License-Identifier: Apache-2.0 */
/* A file of the Prompt Markup Language as XML (PML-1): its elements and texts, in the order of the
 * file. Of what they mean nothing is known here. */
#ifndef CHUNKPROOF_CLI_PROMPT_DOCUMENT_H
#define CHUNKPROOF_CLI_PROMPT_DOCUMENT_H

#include <stddef.h>

#define PML_MAX_BYTES      10000000 /* of a file: the most that libxml2 takes in one piece */
#define PML_MAX_DEPTH      64       /* elements that stand in each other, the root among them */
#define PML_MAX_ATTRIBUTES 1000     /* of an element */
#define PML_MAX_NAME       255      /* bytes of a name */

struct pml_attribute {
    const char *name; /* "xml:space", or without a prefix */
    const char *value;
    size_t offset; /* the byte of the file where it begins */
};

/* An element, or a text without an element in it; comments do not divide a text. */
struct pml_node {
    const char *name; /* of an element; NULL: a text */
    const char *text; /* as XML has it, of `size` bytes and a NUL; NULL: an element */
    size_t size;
    size_t offset;   /* the byte of the file where it begins */
    int parent;      /* the element that it is in; -1 for the root, node 0 */
    int end;         /* the first node behind all that is in it */
    int keeps_space; /* xml:space is "preserve" here */
    int first_attribute, n_attributes;
};

struct pml_document {
    const char *path; /* the caller's */
    char *bytes;      /* the file, with a NUL behind it */
    size_t size;
    int n_nodes;
    struct pml_node *node;
    int n_attributes;
    struct pml_attribute *attribute; /* without xml:space */
    char *strings;                   /* what names, values and texts point into */
};

/* Returns 0, or -1 after a message. In any case the caller gives the document to
 * pml_document_free(). */
int pml_document_read(struct pml_document *document, const char *path);
int pml_document_parse(struct pml_document *document, const char *path, const void *bytes,
                       size_t size);
void pml_document_free(struct pml_document *document);

/* What reads a document: `enter` gets each node in order, `leave` is called behind all that is in
 * an element. Each returns 0, or another number, which ends the walk. */
struct pml_visitor {
    int (*enter)(void *reader, int node);
    int (*leave)(void *reader);
};

/* The whole document; what the visitor ends it with, or 0. */
int pml_document_walk(const struct pml_document *document, const struct pml_visitor *visitor,
                      void *reader);

/* Line and column of a byte, both from 1 on. A column is a character. */
void pml_document_place(const struct pml_document *document, size_t offset, int *line, int *column);

/* How to mend it. */
#define PML_ADVICE_TEXT "Text with < in it needs &lt; or <![CDATA[...]]>."
#define PML_ADVICE_TAG  "Each <name> needs a </name>, the innermost first; or write <name/>."

#define PML_SHORT_MOST 60                        /* characters of a name or value in a message */
#define PML_SHORT_ROOM (4 * PML_SHORT_MOST + 64) /* bytes */

/* What is quoted of a name or value in a message: its first characters, and how long it is. */
const char *pml_short(char quoted[PML_SHORT_ROOM], const char *text);
#define PML_SHORT(text) pml_short((char[PML_SHORT_ROOM]){0}, text)

/* Prints "FILE:LINE:COLUMN: ..." to the standard error and returns -1. What could steer a terminal
 * is replaced. */
int pml_document_error(const struct pml_document *document, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The element that is open where the parser stands; without a name there is none. */
struct pml_open {
    const char *name;
    size_t offset;
};

/* Says what is wrong with XML, by libxml2's error: -1. */
int pml_document_wrong(const struct pml_document *document, size_t offset, int code,
                       const char *message, const struct pml_open *open);

/* Where the last `begin` before `offset` begins; 0: there is none. */
size_t pml_document_last(const struct pml_document *document, size_t offset, const char *begin);

/* 0 when the bytes are UTF-8, no other encoding is declared and no tag has too many attributes;
 * else -1 after a message. */
int pml_document_scan(const struct pml_document *document);

/* Where attribute number i of the tag at `offset` begins. The tag is well-formed. */
size_t pml_document_attribute(const struct pml_document *document, size_t offset, int i);

/* 1 when the tag at `offset` has an attribute xmlns, or with this prefix: *at is the place of the
 * first. The tag is well-formed. */
int pml_document_namespace(const struct pml_document *document, size_t offset, size_t *at);

/* Where the text from the byte `offset` on has its first character that is no white space: a
 * reference to such a character or a CDATA section with one begins there, too. Comments are
 * skipped. Without such a character it is the end of the text. */
size_t pml_document_text(const struct pml_document *document, size_t offset);

/* What may stand between two attributes. */
int pml_is_space(char c);

#endif
