/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of XML that is not well-formed: where, what is wrong and how to mend it, by the code
 * of libxml2's error and what stands at its place. */
#include <libxml/xmlerror.h>
#include <stdio.h>
#include <string.h>

#include "cli/prompt/document.h"

#define MOST_OF_MESSAGE 200 /* bytes of libxml2's */

/* Where an error is. */
enum place {
    HERE,      /* where the parser stands */
    REFERENCE, /* the last & before */
    TAG,       /* the last < before */
    COMMENT,   /* the last <!-- before */
    SECTION,   /* the last <![CDATA[ before */
};

/* By its code, and the begin of libxml2's message. */
struct known {
    int code;
    enum place place;
    const char *message;
    const char *what; /* NULL: libxml2's message */
    const char *mend;
};

#define MEND_ENTITY "There are &lt; &gt; &amp; &quot; &apos;, and characters by number: &#233;"
#define MEND_TEXT   "In a text write &lt; for < and &amp; for &, or use <![CDATA[...]]>."
#define MEND_NUMBER "Write &#233; or &#xE9;"
#define MEND_TAG    "Write > or /> there. " PML_ADVICE_TEXT
#define MEND_VALUE  "Write name=\"value\""
#define MEND_ROOT   "A file has one root: <schema name=\"...\"> or <prompt schema=\"...\">."
#define MEND_DECLARATION                                                                           \
    "Write <?xml version=\"1.0\" encoding=\"UTF-8\"?> at the begin of the file, or nothing."
#define WHAT_REFERENCE   "this reference has no ; at its end"
#define WHAT_NUMBER      "&# needs a number and a ;"
#define WHAT_ENTITY      "there is no entity of this name"
#define WHAT_DECLARATION "the XML declaration is not right"
#define WHAT_INSTRUCTION "a processing instruction has no meaning"

static const struct known known[] = {
    {XML_ERR_UNDECLARED_ENTITY, REFERENCE, "", WHAT_ENTITY, MEND_ENTITY},
    {XML_WAR_UNDECLARED_ENTITY, REFERENCE, "", WHAT_ENTITY, MEND_ENTITY},
    {XML_ERR_NAME_REQUIRED, REFERENCE, "xmlParseEntityRef", "this & begins no reference",
     MEND_TEXT},
    {XML_ERR_NAME_REQUIRED, TAG, "StartTag", "this < begins no tag", MEND_TEXT},
    {XML_ERR_NAME_REQUIRED, HERE, "", "no name stands here", MEND_TEXT},
    {XML_ERR_ENTITYREF_SEMICOL_MISSING, REFERENCE, "", WHAT_REFERENCE, MEND_TEXT},
    {XML_ERR_INVALID_CHAR, REFERENCE, "xmlParseCharRef", "XML has no character with this number",
     "Remove the reference."},
    {XML_ERR_INVALID_CHAR, HERE, "", "this character may not stand in XML", "Remove it."},
    {XML_ERR_INVALID_HEX_CHARREF, REFERENCE, "", WHAT_NUMBER, MEND_NUMBER},
    {XML_ERR_INVALID_DEC_CHARREF, REFERENCE, "", WHAT_NUMBER, MEND_NUMBER},
    {XML_ERR_INVALID_CHARREF, REFERENCE, "", WHAT_NUMBER, MEND_NUMBER},
    {XML_ERR_MISPLACED_CDATA_END, HERE, "", "]]> may not stand in a text", "Write ]]&gt; for it."},
    {XML_ERR_LT_IN_ATTRIBUTE, HERE, "", "< may not stand in a value",
     "Write the quote that ends the value before it, or in a value write &lt; for <."},
    {XML_ERR_ATTRIBUTE_NOT_STARTED, HERE, "", "no value in quotes stands here", MEND_VALUE "."},
    {XML_ERR_ATTRIBUTE_NOT_FINISHED, TAG, "", "a value of this tag has no quote at its end",
     MEND_VALUE "."},
    {XML_ERR_ATTRIBUTE_WITHOUT_VALUE, HERE, "", "an attribute has no value",
     MEND_VALUE ". " PML_ADVICE_TEXT},
    {XML_ERR_ATTRIBUTE_REDEFINED, TAG, "", "an attribute stands twice in this tag",
     "Name an attribute once."},
    {XML_ERR_SPACE_REQUIRED, HERE, "attributes", "an attribute needs a blank before it",
     "Write it; or write &quot; for a quote in the value before."},
    {XML_ERR_SPACE_REQUIRED, TAG, "ParsePI", WHAT_INSTRUCTION, "Remove <?...?>."},
    {XML_ERR_SPACE_REQUIRED, TAG, "Space required", "a document type may not be declared",
     "Remove <!DOCTYPE ...>."},
    {XML_ERR_PI_NOT_STARTED, TAG, "", WHAT_INSTRUCTION, "Remove <?...?>."},
    {XML_ERR_PI_NOT_FINISHED, TAG, "", WHAT_INSTRUCTION, "Remove <?...?>."},
    {XML_ERR_HYPHEN_IN_COMMENT, HERE, "", "-- may not stand in a comment", "Write one - for it."},
    {XML_ERR_COMMENT_NOT_FINISHED, COMMENT, "", "this comment has no end",
     "Write --> there, or leave <!-- out."},
    {XML_ERR_CDATA_NOT_FINISHED, SECTION, "", "this CDATA section has no end",
     "Write ]]> there, or leave <![CDATA[ out."},
    {XML_ERR_GT_REQUIRED, TAG, "", "this tag has no > at its end", MEND_TAG},
    {XML_ERR_NAME_TOO_LONG, HERE, "", "a name is longer than 255 bytes", "Choose a shorter one."},
    {XML_ERR_RESERVED_XML_NAME, TAG, "", WHAT_DECLARATION, MEND_DECLARATION},
    {XML_ERR_SPACE_REQUIRED, TAG, "Blank", WHAT_DECLARATION, MEND_DECLARATION},
    {XML_ERR_STRING_NOT_STARTED, TAG, "", WHAT_DECLARATION, MEND_DECLARATION},
    {XML_ERR_STRING_NOT_CLOSED, TAG, "", WHAT_DECLARATION, MEND_DECLARATION},
    {XML_ERR_EQUAL_REQUIRED, TAG, "", WHAT_DECLARATION, MEND_DECLARATION},
    {XML_ERR_VERSION_MISSING, TAG, "", WHAT_DECLARATION, MEND_DECLARATION},
    {XML_ERR_UNKNOWN_VERSION, TAG, "", "the XML declaration has another version than 1.0",
     MEND_DECLARATION},
    {XML_ERR_ENCODING_NAME, TAG, "", WHAT_DECLARATION, MEND_DECLARATION},
    {XML_ERR_STANDALONE_VALUE, TAG, "", WHAT_DECLARATION, MEND_DECLARATION},
    {XML_ERR_XMLDECL_NOT_FINISHED, TAG, "", WHAT_DECLARATION, MEND_DECLARATION},
    {XML_ERR_DOCUMENT_EMPTY, HERE, "", NULL, MEND_ROOT},
    {XML_ERR_DOCUMENT_END, HERE, "", NULL, "Nothing but comments stands behind the root's end."},
    {XML_ERR_OK, HERE, "", NULL,
     "The file must be well-formed XML; `xmllint --noout` shows where it is not."},
};

/* Where the parser stands inside of a tag, and what is there says more than libxml2 does. */
static const struct known tag_without_end = {XML_ERR_GT_REQUIRED, TAG, "",
                                             "this tag has no > at its end", MEND_TAG};
static const struct known slash_apart = {XML_ERR_GT_REQUIRED, HERE, "",
                                         "/ and > at the end of a tag stand apart", "Write />."};
static const struct known round_quotes = {XML_ERR_ATTRIBUTE_NOT_STARTED, HERE, "",
                                          "this quote is none of XML's",
                                          "Write straight quotes: name=\"value\"."};

/* The last of them is of all other errors. */
static const struct known *known_of(int code, const char *message) {
    const struct known *k = known;
    while (k->code != XML_ERR_OK &&
           (k->code != code || strncmp(message, k->message, strlen(k->message)) != 0)) {
        k++;
    }
    return k;
}

/* ---- Places ---- */

size_t pml_document_last(const struct pml_document *document, size_t offset, const char *begin) {
    size_t at = offset < document->size ? offset : document->size;
    while (at > 0 && strncmp(document->bytes + --at, begin, strlen(begin)) != 0) {
    }
    return at;
}

/* The parser may stand at the begin of a text with ]]> in it. */
static size_t place_of(const struct pml_document *d, size_t at, const struct known *k) {
    const char *end;
    switch (k->place) {
    case REFERENCE:
        return pml_document_last(d, at, "&");
    case TAG:
        return pml_document_last(d, at, "<");
    case COMMENT:
        return pml_document_last(d, at, "<!--");
    case SECTION:
        return pml_document_last(d, at, "<![CDATA[");
    default:
        end = k->code == XML_ERR_MISPLACED_CDATA_END ? strstr(d->bytes + at, "]]>") : NULL;
        return end != NULL ? (size_t)(end - d->bytes) : at;
    }
}

/* Does a tag with a name begin before this place, which it has not ended there? */
static int is_in_tag(const struct pml_document *d, size_t at) {
    size_t begin = pml_document_last(d, at, "<");
    const char *name = d->bytes + begin + 1;
    return begin < at && strchr("/!? \t\r\n<", *name) == NULL &&
           memchr(name, '>', (size_t)(d->bytes + at - name)) == NULL;
}

/* ---- What is wrong ---- */

/* U+2018 to U+201F. */
static int is_round_quote(const unsigned char *at) {
    return at[0] == 0xE2 && at[1] == 0x80 && at[2] >= 0x98 && at[2] <= 0x9F;
}

static const struct known *known_at(const struct pml_document *d, size_t at, int code,
                                    const char *message) {
    const struct known *k = known_of(code, message);
    const char *here = d->bytes + at;
    if (code == XML_ERR_ATTRIBUTE_NOT_STARTED && is_round_quote((const unsigned char *)here)) {
        return &round_quotes;
    }
    if (code == XML_ERR_GT_REQUIRED && *here > 0 && *here < ' ' && !pml_is_space(*here)) {
        return known_of(XML_ERR_INVALID_CHAR, ""); /* libxml2 takes it for the end of the tag */
    }
    if ((code != XML_ERR_NAME_REQUIRED && code != XML_ERR_SPACE_REQUIRED) || k->place != HERE ||
        !is_in_tag(d, at)) {
        return k;
    }
    if (*here == '<' || *here == '\0') {
        return &tag_without_end;
    }
    return *here == '/' && pml_is_space(here[1]) ? &slash_apart : k;
}

static int wrong_end(const struct pml_document *d, size_t at, int code,
                     const struct pml_open *open) {
    int line, column;
    const char *name = PML_SHORT(open->name);
    pml_document_place(d, open->offset, &line, &column);
    if (code == XML_ERR_TAG_NOT_FINISHED) {
        return pml_document_error(d, at,
                                  "not well-formed: the file ends, and <%s> of line %d has no end. "
                                  "%s",
                                  name, line, PML_ADVICE_TAG);
    }
    return pml_document_error(d, pml_document_last(d, at, "<"),
                              "not well-formed: <%s> of line %d is to end before this tag. %s %s",
                              name, line, PML_ADVICE_TAG, PML_ADVICE_TEXT);
}

int pml_document_wrong(const struct pml_document *document, size_t offset, int code,
                       const char *message, const struct pml_open *open) {
    size_t at = offset < document->size ? offset : document->size;
    if (open->name != NULL &&
        (code == XML_ERR_TAG_NAME_MISMATCH || code == XML_ERR_TAG_NOT_FINISHED)) {
        return wrong_end(document, at, code, open);
    }
    const struct known *k = known_at(document, at, code, message);
    const char *text = k->what != NULL ? k->what : message;
    int size = (int)strcspn(text, "\n");
    return pml_document_error(document, place_of(document, at, k), "not well-formed: %.*s. %s",
                              size < MOST_OF_MESSAGE ? size : MOST_OF_MESSAGE, text, k->mend);
}
