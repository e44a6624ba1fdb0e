/* SPDX-License-Identifier: Apache-2.0 */
/* From a file to nodes, with libxml2's SAX parser (PML-1). What the parser could fetch or expand it
 * never learns of: a document type ends it before its first declaration is read. */
#include <errno.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clean.h"
#include "cli/base/text.h"
#include "cli/prompt/document.h"

/* libxml2 2.12 made it constant. */
#if LIBXML_VERSION >= 21200
typedef const xmlError *error_of_xml;
#else
typedef xmlErrorPtr error_of_xml;
#endif

/* Strings move while they grow: until the end, nodes and attributes have the places of theirs. */
struct place {
    size_t first, second; /* a name or a text; a value */
};

struct reader {
    struct pml_document *d;
    xmlParserCtxtPtr xml;
    int open;    /* the element that is being read; -1: none */
    int depth;   /* elements that are open */
    int is_text; /* the last node is a text that may go on */
    size_t here; /* the end of the last tag */
    int failed;
    size_t n_strings, room;
    struct place *of_node, *of_attribute;
};

/* ---- Growing ---- */

static size_t keep(struct reader *r, const void *bytes, size_t size) {
    size_t at = r->n_strings;
    while (r->room < at + size + 1) {
        r->room = r->room > 0 ? r->room * 2 : 256;
        r->d->strings = cli_allocate(r->d->strings, r->room, 1);
    }
    if (size > 0) {
        memcpy(r->d->strings + at, bytes, size);
    }
    r->d->strings[at + size] = '\0';
    r->n_strings = at + size + 1;
    return at;
}

static struct pml_node *add_node(struct reader *r, size_t offset) {
    struct pml_document *d = r->d;
    r->of_node = cli_grow(r->of_node, d->n_nodes, sizeof *r->of_node);
    d->node = cli_grow(d->node, d->n_nodes, sizeof *d->node);
    struct pml_node *node = &d->node[d->n_nodes];
    memset(node, 0, sizeof *node);
    node->offset = offset;
    node->parent = r->open;
    node->keeps_space = r->open >= 0 && d->node[r->open].keeps_space;
    node->first_attribute = d->n_attributes;
    node->end = ++d->n_nodes;
    return node;
}

/* ---- Errors ---- */

static void fail(struct reader *r) {
    r->failed = 1;
    xmlStopParser(r->xml);
}

static size_t consumed(const struct reader *r) {
    long bytes = xmlByteConsumed(r->xml);
    return bytes > 0 ? (size_t)bytes : 0;
}

/* No "<" stands in the value of an attribute. */
static size_t tag_begin(const struct reader *r) {
    return pml_document_last(r->d, consumed(r), "<");
}

/* libxml2 names prefixes of no namespace, too; these are seen where elements begin. */
static void on_error(void *data, error_of_xml error) {
    struct reader *r = data;
    struct pml_open open = {NULL, 0};
    if (r->failed || error->level < XML_ERR_ERROR || error->domain == XML_FROM_NAMESPACE) {
        return;
    }
    if (r->open >= 0) {
        open.name = r->d->strings + r->of_node[r->open].first;
        open.offset = r->d->node[r->open].offset;
    }
    pml_document_wrong(r->d, consumed(r), error->code,
                       error->message != NULL ? error->message : "no XML", &open);
    fail(r);
}

/* ---- What is refused ---- */

static void on_document_type(void *data, const xmlChar *name, const xmlChar *id,
                             const xmlChar *system) {
    struct reader *r = data;
    (void)name;
    (void)id;
    (void)system;
    pml_document_error(r->d, tag_begin(r),
                       "a document type may not be declared. Remove <!DOCTYPE ...>.");
    fail(r);
}

static void on_instruction(void *data, const xmlChar *target, const xmlChar *text) {
    struct reader *r = data;
    (void)text;
    pml_document_error(r->d, tag_begin(r),
                       "a processing instruction has no meaning. Remove <?%s ...?>.",
                       PML_SHORT((const char *)target));
    fail(r);
}

/* Five names, whatever a document declares. */
static xmlEntityPtr on_entity(void *data, const xmlChar *name) {
    (void)data;
    return xmlGetPredefinedEntity(name);
}

/* ---- Elements and texts ---- */

static int refuse_prefix(struct reader *r, size_t offset, const xmlChar *name,
                         const xmlChar *prefix) {
    if (xmlStrEqual(prefix, BAD_CAST "xml")) {
        pml_document_error(r->d, offset,
                           "xml:%s has no meaning. Remove it: there is xml:space alone.",
                           PML_SHORT((const char *)name));
    } else {
        const char *local = PML_SHORT((const char *)name);
        pml_document_error(r->d, offset, "the name %s:%s has a prefix. Write %s.",
                           PML_SHORT((const char *)prefix), local, local);
    }
    fail(r);
    return -1;
}

static int check_length(struct reader *r, size_t offset, const xmlChar *name) {
    if (xmlStrlen(name) <= PML_MAX_NAME) {
        return 0;
    }
    pml_document_error(r->d, offset, "the name %s is longer than %d bytes. Choose another.",
                       PML_SHORT((const char *)name), PML_MAX_NAME);
    fail(r);
    return -1;
}

/* The caller frees it. */
static char *copy_of(const xmlChar *begin, size_t size) {
    char *copy = cli_allocate(NULL, size + 1, 1);
    memcpy(copy, begin, size);
    copy[size] = '\0';
    return copy;
}

/* xml:space, which is kept as a property of the node. */
static int read_space(struct reader *r, struct pml_node *node, const xmlChar *begin, size_t size,
                      size_t offset) {
    if (size == 8 && memcmp(begin, "preserve", size) == 0) {
        node->keeps_space = 1;
    } else if (size == 7 && memcmp(begin, "default", size) == 0) {
        node->keeps_space = 0;
    } else {
        char *value = copy_of(begin, size);
        pml_document_error(r->d, offset, "xml:space is \"%s\". Write \"preserve\" or \"default\".",
                           PML_SHORT(value));
        free(value);
        fail(r);
        return -1;
    }
    return 0;
}

/* libxml2 gives each attribute as five pointers: name, prefix, namespace, the value's begin and
 * end. */
static void add_attributes(struct reader *r, int at, int n, const xmlChar **five) {
    struct pml_document *d = r->d;
    size_t offset = d->node[at].offset;
    for (int i = 0; i < n; i++, five += 5) {
        size_t size = (size_t)(five[4] - five[3]);
        size_t begin = pml_document_attribute(d, offset, i);
        int is_xml = five[1] != NULL && xmlStrEqual(five[1], BAD_CAST "xml");
        if (is_xml && xmlStrEqual(five[0], BAD_CAST "space")) {
            if (read_space(r, &d->node[at], five[3], size, begin) != 0) {
                return;
            }
            continue;
        }
        if (five[1] != NULL) {
            refuse_prefix(r, begin, five[0], five[1]);
            return;
        }
        if (check_length(r, begin, five[0]) != 0) {
            return;
        }
        r->of_attribute = cli_grow(r->of_attribute, d->n_attributes, sizeof *r->of_attribute);
        d->attribute = cli_grow(d->attribute, d->n_attributes, sizeof *d->attribute);
        struct place *place = &r->of_attribute[d->n_attributes];
        place->first = keep(r, five[0], (size_t)xmlStrlen(five[0]));
        place->second = keep(r, five[3], size);
        d->attribute[d->n_attributes++].offset = begin;
        d->node[at].n_attributes++;
    }
}

static void on_begin(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                     int n_namespaces, const xmlChar **namespaces, int n_attributes, int n_defaults,
                     const xmlChar **attributes) {
    struct reader *r = data;
    size_t offset = tag_begin(r), end = consumed(r), namespace;
    (void)uri;
    (void)n_namespaces; /* xmlns:xml is none of them */
    (void)namespaces;
    (void)n_defaults;
    if (prefix != NULL) {
        refuse_prefix(r, offset, name, prefix);
        return;
    }
    if (pml_document_namespace(r->d, offset, &namespace)) {
        pml_document_error(r->d, namespace, "namespaces have no meaning. Remove xmlns from <%s>.",
                           PML_SHORT((const char *)name));
        fail(r);
        return;
    }
    if (check_length(r, offset, name) != 0) {
        return;
    }
    if (r->depth >= PML_MAX_DEPTH) {
        pml_document_error(r->d, offset, "<%s> stands in %d elements. Use fewer levels.",
                           PML_SHORT((const char *)name), r->depth);
        fail(r);
        return;
    }
    int at = r->d->n_nodes;
    add_node(r, offset);
    r->of_node[at].first = keep(r, name, (size_t)xmlStrlen(name));
    r->d->node[at].name = ""; /* an element, until the string has its place */
    add_attributes(r, at, n_attributes, attributes);
    while (end < r->d->size && r->d->bytes[end] != '>') {
        end++;
    }
    r->open = at;
    r->depth++;
    r->is_text = 0;
    r->here = end + 1;
}

static void on_end(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    struct reader *r = data;
    (void)name;
    (void)prefix;
    (void)uri;
    r->d->node[r->open].end = r->d->n_nodes;
    r->open = r->d->node[r->open].parent;
    r->depth--;
    r->is_text = 0;
    r->here = consumed(r);
}

static void on_text(void *data, const xmlChar *text, int size) {
    struct reader *r = data;
    if (r->open < 0) {
        return;
    }
    if (r->is_text) {
        r->n_strings--; /* the NUL */
        keep(r, text, (size_t)size);
    } else {
        int at = r->d->n_nodes;
        add_node(r, pml_document_text(r->d, r->here));
        r->of_node[at].first = keep(r, text, (size_t)size);
        r->is_text = 1;
    }
    r->d->node[r->d->n_nodes - 1].size += (size_t)size;
}

/* ---- All of it ---- */

static void set_handler(xmlSAXHandler *sax) {
    memset(sax, 0, sizeof *sax);
    sax->initialized = XML_SAX2_MAGIC;
    sax->internalSubset = on_document_type;
    sax->getEntity = on_entity;
    sax->startElementNs = on_begin;
    sax->endElementNs = on_end;
    sax->characters = on_text;
    sax->ignorableWhitespace = on_text;
    sax->cdataBlock = on_text;
    sax->processingInstruction = on_instruction;
    sax->serror = on_error;
}

static void set_strings(struct reader *r) {
    struct pml_document *d = r->d;
    for (int i = 0; i < d->n_nodes; i++) {
        const char *string = d->strings + r->of_node[i].first;
        if (d->node[i].name != NULL) {
            d->node[i].name = string;
        } else {
            d->node[i].text = string;
        }
    }
    for (int i = 0; i < d->n_attributes; i++) {
        d->attribute[i].name = d->strings + r->of_attribute[i].first;
        d->attribute[i].value = d->strings + r->of_attribute[i].second;
    }
}

/* XML_PARSE_NOENT is for the values of attributes, in which libxml2 otherwise leaves &amp; as it
 * is. There is no entity but the five of on_entity() that it could expand. */
static int parse(struct reader *r) {
    r->xml = xmlNewParserCtxt();
    if (r->xml == NULL) {
        fputs("chunkproof prompt: out of memory\n", stderr);
        return -1;
    }
    set_handler(r->xml->sax);
    r->xml->userData = r;
    xmlDocPtr made = xmlCtxtReadMemory(r->xml, r->d->bytes, (int)r->d->size, NULL, NULL,
                                       XML_PARSE_NONET | XML_PARSE_NOENT);
    if (!r->failed && !r->xml->wellFormed) {
        const struct pml_open none = {NULL, 0};
        pml_document_wrong(r->d, consumed(r), XML_ERR_OK, "no XML", &none);
        r->failed = 1;
    }
    xmlFreeDoc(made);
    xmlFreeParserCtxt(r->xml);
    return r->failed ? -1 : 0;
}

/* Takes the bytes over, which end with a NUL. */
static int read_bytes(struct pml_document *d, char *bytes, size_t size) {
    d->bytes = bytes;
    d->size = size;
    if (size > PML_MAX_BYTES) {
        return pml_document_error(d, 0, "the file has more than %d bytes. Divide it.",
                                  PML_MAX_BYTES);
    }
    if (pml_document_scan(d) != 0) {
        return -1;
    }
    struct reader r = {.d = d, .open = -1};
    int status = parse(&r);
    if (status == 0) {
        set_strings(&r);
    }
    free(r.of_node);
    free(r.of_attribute);
    return status;
}

int pml_document_parse(struct pml_document *document, const char *path, const void *bytes,
                       size_t size) {
    char *copy = cli_allocate(NULL, size + 1, 1);
    memset(document, 0, sizeof *document);
    document->path = path;
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    copy[size] = '\0';
    return read_bytes(document, copy, size);
}

int pml_document_read(struct pml_document *document, const char *path) {
    memset(document, 0, sizeof *document);
    document->path = path;
    FILE *file = fopen(path, "rb");
    size_t size = 0, room = 1 << 16;
    char *bytes = NULL;
    int failed = file == NULL;
    while (!failed && size <= PML_MAX_BYTES) {
        room = size + 1 < room ? room : room * 2;
        bytes = cli_allocate(bytes, room, 1);
        size_t n = fread(bytes + size, 1, room - size - 1, file);
        size += n;
        failed = ferror(file) != 0;
        if (n == 0) {
            break;
        }
    }
    int error = errno;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (failed) {
        free(bytes);
        text_say("%s: cannot be read: %s", path, strerror(error));
        return -1;
    }
    bytes[size] = '\0';
    return read_bytes(document, bytes, size);
}
