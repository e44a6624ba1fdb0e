/* SPDX-License-Identifier: Apache-2.0 */
/* Every error of a schema and of a prompt: where it is, and what is said (spec/pml.md, PML-12).
 * Lines and columns are counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/text.h"
#include "tests/pml_case.h"

/* What is wrong, at which line and column, and words of the message. */
struct wrong {
    const char *text;
    int line, column;
    const char *said;
};

static void is_said(const struct pml_case *c, const char *file, const struct wrong *wrong) {
    char place[64];
    size_t size = strlen(c->said);
    (void)snprintf(place, sizeof place, "%s:%d:%d: ", file, wrong->line, wrong->column);
    if (strncmp(c->said, place, strlen(place)) != 0 || strstr(c->said, wrong->said) == NULL) {
        fail_msg("not '%s' and '%s', but '%s' of\n%s", place, wrong->said, c->said, wrong->text);
    }
    /* One line: a sentence that says what, another that says how to mend it. */
    assert_ptr_equal(strchr(c->said, '\n'), c->said + size - 1);
    if (strstr(c->said, ". ") == NULL && strstr(c->said, "? ") == NULL) {
        fail_msg("nothing that mends it: %s", c->said);
    }
}

static void are_refused(const struct wrong *wrong, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct pml_case c;
        if (pml_case_schema(&c, "words", "none", wrong[i].text, strlen(wrong[i].text)) == 0) {
            fail_msg("accepted: %s", wrong[i].text);
        }
        is_said(&c, "s.xml", &wrong[i]);
        pml_case_free(&c);
    }
}

#define ARE_REFUSED(wrong) are_refused(wrong, sizeof(wrong) / sizeof(wrong)[0])

/* PML-1 */
static void what_is_no_plain_xml_is_refused(void **unused) {
    (void)unused;
    static const struct wrong wrong[] = {
        {"", 1, 1, "not well-formed"},
        {"hello", 1, 1, "not well-formed"},
        {"<schema name='s'>", 1, 18, "Each <name> needs a </name>"},
        {"<schema \x01", 1, 9, "not well-formed"}, /* libxml2 takes it for the end of the tag */
        {"<schema name='s'>\n  <module name='m'>\n</schema>", 3, 1, "Each <name> needs a </name>"},
        {"<schema name='s'>\n  a & b</schema>", 2, 5, "write &lt; for <"},
        {"<schema name='s'>\n  a < 3</schema>", 2, 5, "this < begins no tag"},
        {"<schema name='s'>\n  a <3</schema>", 2, 5, "this < begins no tag"},
        {"<schema name='s'>a &nbsp; b</schema>", 1, 20, "There are &lt; &gt;"},
        {"<schema name='s'/>\n<schema name='t'/>", 2, 1, "Nothing but comments"},
        {"<schema name='s' name='t'/>", 1, 1, "Name an attribute once"},
        {"<schema name='a<b'/>", 1, 16, "write &lt; for <"},
        {"<schema name/>", 1, 13, "Write name=\"value\""},
        {"<schema name='s'>\x01</schema>", 1, 18, "this character may not stand in XML"},
        {"<schema name='s'>\n x\n ]]>\n</schema>", 3, 2, "]]> may not stand in a text"},
        {"<schema name='s'><![CDATA[a]]>\n]]></schema>", 2, 1, "]]> may not stand in a text"},
        {"<schema name='s'>\n &#8;</schema>", 2, 2, "no character with this number"},
        {"<schema name='s'>\n &#99999999999;</schema>", 2, 2, "no character with this number"},
        {"<schema name='s&#0;'/>", 1, 16, "no character with this number"},
        {"<schema name='s'>\n &#X41;</schema>", 2, 2, "&# needs a number and a ;"},
        {"<schema name='s'>\n &lt</schema>", 2, 2, "this reference has no ;"},
        {"\xEF\xBB\xBF<schema/>", 1, 1, "lacks its name"},
        {"\xEF\xBB\xBF<schema name='s'>\n<bad/></schema>", 2, 1, "<bad>"},
        {"\xEF\xBB\xBF<schema name='s'><bad/></schema>", 1, 18, "<bad>"},
        {"\n<?xml version='1.0'?><schema name='s'/>", 2, 1, "not well-formed"},
        {"<?xml version='1.0' encoding='latin1'?><schema name='s'/>", 1, 1, "is \"latin1\""},
        {"<?xml version='1.0' encoding=\"klingon\"?><schema name='s'/>", 1, 1, "Save the file as"},
        {"\xEF\xBB\xBF<?xml version='1.0' encoding='utf-16'?><schema name='s'/>", 1, 1,
         "the encoding is \"utf-16\". Save the file as UTF-8"},
        {"<?xml version='1.0' encoding = ''?><schema name='s'/>", 1, 1, "is \"\". Save the file"},
        {"<?xml version='1.0' encoding='UTF-32'?>\n<schema name='s'/>", 1, 1, "is \"UTF-32\""},
        {"<!DOCTYPE schema>\n<schema name='s'/>", 1, 1, "Remove <!DOCTYPE"},
        {"<!DOCTYPE schema [<!ENTITY a 'x'>]>\n<schema name='s'>&a;</schema>", 1, 1, "<!DOCTYPE"},
        {"<!DOCTYPE s SYSTEM 'http://127.0.0.1/s.dtd'>\n<schema name='s'/>", 1, 1, "<!DOCTYPE"},
        {"<schema name='s'>\n<?php echo?></schema>", 2, 1, "Remove <?php"},
        {"<?style a?><schema name='s'/>", 1, 1, "Remove <?style"},
        {"<schema name='s' xmlns='x:y'/>", 1, 18, "namespaces"},
        {"<schema\n xmlns:xml='http://www.w3.org/XML/1998/namespace' name='s'/>", 2, 2, "xmlns"},
        {"<schema name='s'><module xmlns:a='x' name='m'/></schema>", 1, 26, "xmlns"},
        {"<schema name='s'><p:module name='m'/></schema>", 1, 18, "Write module"},
        {"<schema name='s' p:q='m'/>", 1, 18, "Write q"},
        {"<schema name='s' xml:lang='en'/>", 1, 18, "xml:lang has no meaning"},
        {"<schema name='s'\n  xml:space='keep'/>", 2, 3, "\"preserve\" or \"default\""},
        {"<schema name='s'>\n \xC3\xA9\xFF</schema>", 2, 3, "the byte 0xFF is not UTF-8"},
        {"<schema name='s'>\xED\xA0\x80</schema>", 1, 18, "the byte 0xED is not UTF-8"},
    };
    ARE_REFUSED(wrong);
}

/* PML-12: a tag, a comment or a section without its end is where it begins. */
static void what_xml_lacks_is_said(void **unused) {
    (void)unused;
    static const struct wrong wrong[] = {
        {"<schema name='s'>\n <tokyo\n</schema>", 2, 2, "this tag has no > at its end"},
        {"<schema name='s'>\n <module name='a'\n</schema>", 2, 2, "this tag has no > at its end"},
        {"<schema name='s'>\n <tokyo", 2, 2, "this tag has no > at its end"},
        {"<schema name='s'></schema", 1, 18, "this tag has no > at its end"},
        {"<schema name='s'>\n <tokyo / >\n</schema>", 2, 9, "Write />."},
        {"<schema name='s'><a b='3/>\n </schema>", 2, 2, "Write the quote that ends the value"},
        {"<schema name='s'>\n<a b='3/> x", 2, 1, "no quote at its end"},
        {"<schema name='s'><a b=\xE2\x80\x9C"
         "3\xE2\x80\x9D/></schema>",
         1, 23, "straight quotes"},
        {"<schema name=s/>", 1, 14, "no value in quotes"},
        {"<schema name='s'x='y'/>", 1, 17, "needs a blank before it"},
        {"<schema name='s'>a<b and b>c</schema>", 1, 26, "needs &lt; or <![CDATA[...]]>"},
        {"<schema name='s'>\n#include <stdio.h>\nx</schema>", 3, 2,
         "<stdio.h> of line 2 is to end"},
        {"<schema name='s'>\n<module name='m'>\nx", 3, 2, "<module> of line 2 has no end"},
        {"<schema name='s'>\n <!-- a -- b -->x</schema>", 2, 9, "-- may not stand in a comment"},
        {"<schema name='s'>\n <!-- a</schema>", 2, 2, "this comment has no end"},
        {"<schema name='s'>\n x<![CDATA[a</schema>", 2, 3, "this CDATA section has no end"},
        {"<?xml version='2.0'?>\n<schema name='s'/>", 1, 1, "another version than 1.0"},
        {"<?xml version='1.0'encoding='UTF-8'?>\n<schema name='s'/>", 1, 1, "Write <?xml version"},
        {"<schema name='s'><? x?></schema>", 1, 18, "a processing instruction has no meaning"},
        {"<!DOCTYPE s SYSTEM'x'><schema name='s'/>", 1, 1, "Remove <!DOCTYPE"},
    };
    ARE_REFUSED(wrong);
}

/* PML-2 */
static void what_may_not_stand_there_is_refused(void **unused) {
    (void)unused;
    static const struct wrong wrong[] = {
        {"<prompt schema='s'/>", 1, 1, "the root is <prompt>"},
        {"<schema name='s'>\n <modul name='m'/></schema>", 2, 2, "Did you mean <module>?"},
        {"<schema name='s'><miami/></schema>", 1, 18, "A module is <module name=\"miami\">"},
        {"<schema name='s'><schema name='t'/></schema>", 1, 18, "one <schema>"},
        {"<schema name='s'><prompt/></schema>", 1, 18, "a file of its own"},
        {"<schema name='s'><union><union/></union></schema>", 1, 25, "may not stand in <union>"},
        {"<schema name='s'><union><user/></union></schema>", 1, 25, "may not stand in <union>"},
        {"<schema name='s'><union>\n\n x</union></schema>", 3, 2, "text may not stand in <union>"},
        {"<schema name='s'><union> <!-- q\n -->&#32;&#x9;\n<![CDATA[ ]]> x</union></schema>", 3, 15,
         "text may not stand in <union>"},
        {"<schema name='s'><union>\n <![CDATA[ x]]></union></schema>", 2, 2, "text may not"},
        {"<schema name='s'><union>\n&#32; &#x41;</union></schema>", 2, 7, "text may not"},
        {"<schema name='s'><union>\n <!-- q -->&amp;</union></schema>", 2, 12, "text may not"},
        {"<schema name='s'><user><system/></user></schema>", 1, 24, "in no other role"},
        {"<schema name='s'><user><module name='m'><system/></module></user></schema>", 1, 41,
         "<system> may not stand in <user>"},
        {"<schema name='s'><module name='m'><scaffold modules='m'/></module></schema>", 1, 35,
         "directly in <schema>"},
        {"<schema name='s'><param name='p' len='1'>x</param></schema>", 1, 42, "has no content"},
        {"<schema name='s'><param name='p' len='1'>\n<union/></param></schema>", 2, 1,
         "has no content"},
        {"<schema name='s'><scaffold modules='m'> x</scaffold></schema>", 1, 41, "has no content"},
        {"<schema/>", 1, 1, "lacks its name"},
        {"<schema name='s'><union><module/></union></schema>", 1, 25, "lacks its name"},
        {"<schema name='s'><user><module><system/></module></user></schema>", 1, 32,
         "in no other role"},
        {"<schema name='s'><param name='p'/></schema>", 1, 18, "lacks its len"},
        {"<schema name='s'><module name='m' nam='n'/></schema>", 1, 35, "Did you mean name?"},
        {"<schema name='s'><union name='n'/></schema>", 1, 25, "Remove it: a union has no name"},
        {"<schema name='s'><user name='n'/></schema>", 1, 24, "<user> has no attribute name"},
    };
    ARE_REFUSED(wrong);
}

/* PML-3 */
static void a_name_that_no_prompt_could_use_is_refused(void **unused) {
    (void)unused;
    static const struct wrong wrong[] = {
        {"<schema name=''/>", 1, 9, "is empty"},
        {"<schema name='a b'/>", 1, 9, "cannot be an element's name"},
        {"<schema name='s'><module name='1st'/></schema>", 1, 26, "cannot be an element's name"},
        {"<schema name='s'><module name='a:b'/></schema>", 1, 26, "cannot be an element's name"},
        {"<schema name='s'><module name='a/b'/></schema>", 1, 26, "cannot be an element's name"},
        {"<schema name='s'><module name='XmL'/></schema>", 1, 26, "begins with xml"},
        {"<schema name='s'><module name='user'/></schema>", 1, 26, "an element of the language"},
        {"<schema name='s'><param len='1' name='schema'/></schema>", 1, 33,
         "attribute of <prompt>"},
        {"<schema name='s'>\n<module name='m'/>\n<union><module name='m'/></union></schema>", 3, 8,
         "a module of line 2 is called m"},
        {"<schema name='s'><module name='m'>\n<param name='p' len='1'/><user>\n"
         "<param name='p' len='2'/></user></module></schema>",
         3, 1, "a param of line 2 is called p"},
        {"<schema name='s'><module name='b'/><module name='b'/>\n<module name='a'/>"
         "<module name='a'/></schema>",
         1, 36, "is called b"},
        {"<schema name='s'><param len='0' name='xml'/></schema>", 1, 25, "len is"},
        {"<schema name='s'><param name='xml' len='0'/></schema>", 1, 25, "begins with xml"},
        {"<schema name='s'><module name='1' foo='x'/></schema>", 1, 35, "no attribute foo"},
    };
    ARE_REFUSED(wrong);
}

static void put_letter(char *to, long c) {
    static const int first[] = {0, 0xC0, 0xE0, 0xF0};
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    to[0] = (char)(first[more] | (int)(c >> 6 * more));
    for (int i = 1; i <= more; i++) {
        to[i] = (char)(0x80 | (int)(c >> 6 * (more - i) & 0x3F));
    }
    to[more + 1] = '\0';
}

/* It is a name of a schema if, and only if, it is the name of an element. */
static void is_named_as_an_element(const char *before, long c) {
    char letter[5], text[64];
    struct pml_case element, name;
    put_letter(letter, c);
    (void)snprintf(text, sizeof text, "<schema name='s'><%s%s/></schema>", before, letter);
    assert_int_equal(pml_case_schema(&element, "words", "none", text, strlen(text)), -1);
    int is_element = strstr(element.said, "is no element of a schema") != NULL;
    (void)snprintf(text, sizeof text, "<schema name='%s%s'/>", before, letter);
    int is_name = pml_case_schema(&name, "words", "none", text, strlen(text)) == 0;
    if (is_element != is_name) {
        fail_msg("U+%lX behind '%s': %s%s", (unsigned long)c, before, element.said, name.said);
    }
    pml_case_free(&element);
    pml_case_free(&name);
}

/* PML-3: a name is what the parser of XML takes as an element's. */
static void a_name_is_what_an_element_may_be_called(void **unused) {
    (void)unused;
    static const long edges[] = {
        0x2FF,  0x300,  0x36F,  0x370,  0x37D,  0x37E,  0x37F,   0x1E9E,  0x1FFF,  0x2000,  0x200B,
        0x200C, 0x200D, 0x200E, 0x203E, 0x203F, 0x2040, 0x2041,  0x206F,  0x2070,  0x218F,  0x2190,
        0x2BFF, 0x2C00, 0x2FEF, 0x2FF0, 0x3000, 0x3001, 0xD7FF,  0xE000,  0xF8FF,  0xF900,  0xFDCF,
        0xFDD0, 0xFDEF, 0xFDF0, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0xEFFFF, 0xF0000, 0x10FFFF};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        is_named_as_an_element("", edges[i]);
        is_named_as_an_element("a", edges[i]);
    }
    for (long c = '!'; c < 0x110000; c += c < 0x400 ? 1 : c < 0x10000 ? 61 : 8191) {
        if (c != ':' && !(c >= 0xD800 && c < 0xE000)) { /* a prefix; no characters */
            is_named_as_an_element("", c);
            is_named_as_an_element("a", c);
        }
    }
}

/* PML-6, PML-7 */
static void a_length_that_is_none_is_refused(void **unused) {
    (void)unused;
    static const char *const lengths[] = {
        "", "0", "-1", "+1", " 1", "1 ", "01", "1048577", "4294967297", "1.5", "9999999999", "one"};
    char text[128];
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const struct wrong wrong = {text, 1, 34, "from 1 to 1048576"};
        (void)snprintf(text, sizeof text, "<schema name='s'><param name='p' len='%s'/></schema>",
                       lengths[i]);
        are_refused(&wrong, 1);
    }
    static const struct wrong wrong[] = {
        {"<schema name='s'><param name='p' len='1048576'/>x</schema>", 1, 49,
         "takes 1048577 positions, and may take 1048576: this text ends behind them"},
        {"<schema name='s'>\n<union><module name='a'><param name='p' len='1048575'/></module>\n"
         "<module name='b'><param name='p' len='1048576'/></module></union>\n"
         "<module name='c'/>x<module name='d'>\n<param name='p' len='1000000'/></module></schema>",
         4, 19, "takes 2048577 positions"},
        {"<schema name='s'>\n<module name='a'>x\n<param name='p' "
         "len='1048576'/></module>y</schema>",
         3, 1, "takes 1048578 positions, and may take 1048576: this param"},
    };
    ARE_REFUSED(wrong);
}

/* PML-9 */
static void a_scaffold_that_never_counts_is_refused(void **unused) {
    (void)unused;
#define MODULES                                                                                    \
    "<module name='a'><module name='c'/><union><module name='e'/><module name='f'/></union>"       \
    "</module>\n<module name='b'/><module name='d'/><union><module name='g'/></union></schema>"
    static const struct wrong wrong[] = {
        {"<schema name='s'>\n<scaffold/>" MODULES, 2, 1, "lacks its modules"},
        {"<schema name='s'>\n<scaffold module='a'/>" MODULES, 2, 11, "Did you mean modules?"},
        {"<schema name='s'>\n<scaffold modules='a' name='x'/><bad/>" MODULES, 2, 23,
         "<scaffold> has no attribute name"},
        {"<schema name='s'>\n<scaffold modules=' '/>" MODULES, 2, 11, "has no module"},
        {"<schema name='s'>\n<scaffold modules='a a'/>" MODULES, 2, 11, "has a twice"},
        {"<schema name='s'>\n<scaffold modules='a h'/>" MODULES, 2, 11,
         "the schema has no module h"},
        {"<schema name='s'>\n<scaffold modules='a/cc'/>" MODULES, 2, 11, "Did you mean a/c?"},
        {"<schema name='s'>\n<scaffold modules='a/'/>" MODULES, 2, 11,
         "the path \"a/\" has an empty"},
        {"<schema name='s'>\n<scaffold modules='/a'/>" MODULES, 2, 11,
         "the path \"/a\" has an empty"},
        {"<schema name='s'>\n<scaffold modules='a,b'/>" MODULES, 2, 11, "Write blanks between"},
        {"<schema name='s'>\n<scaffold modules='c'/>" MODULES, 2, 11,
         "the schema has no module c. Did you mean a/c?"},
        {"<schema name='s'>\n<scaffold modules='b a'/>\n<scaffold modules='a b'/>" MODULES, 3, 1,
         "the scaffold of line 2 has the same modules"},
        {"<schema name='s'>\n<scaffold modules='a/e b a/f'/>" MODULES, 2, 1, "two members"},
        {"<schema name='s'>\n<scaffold modules='a b'/>\n<scaffold modules='b d'/>" MODULES, 3, 1,
         "both count for b"},
        {"<schema name='s'>\n<scaffold modules='a b'/>\n<scaffold modules='d a/c'/>" MODULES, 3, 1,
         "of line 2 both count for a/c"},
        {"<schema name='s'>\n<scaffold modules='a/c b'/>\n<scaffold modules='d a'/>" MODULES, 3, 1,
         "both count for a/c"},
        {"<schema name='s'>\n<scaffold modules='a/c'/>\n<scaffold modules='a a/c'/>" MODULES, 2, 1,
         "this scaffold never counts: that of line 3 has its modules and more"},
        {"<schema name='s'>\n<scaffold modules='a a/c'/>\n<scaffold modules='a/c'/>" MODULES, 3, 1,
         "this scaffold never counts: that of line 2 has its modules and more"},
        {"<schema name='s'>\n<scaffold modules='b a/e a'/>\n<scaffold modules='a/e b'/>" MODULES, 3,
         1, "that of line 2"},
    };
    ARE_REFUSED(wrong);
    /* MOD-3: not together, one a part of the other, nothing in common. */
    static const char *const right[] = {
        "<schema name='s'><scaffold modules='a/e b'/><scaffold modules='b a/f'/>" MODULES,
        "<schema name='s'><scaffold modules='a b'/><scaffold modules='b d a'/>" MODULES,
        "<schema name='s'><scaffold modules='b d a'/><scaffold modules='a b'/>" MODULES,
        "<schema name='s'><scaffold modules='a/c b'/><scaffold modules='d a/e'/>" MODULES,
        "<schema name='s'><scaffold modules='a'/><scaffold modules='a a/c'/>" MODULES,
        "<schema name='s'><scaffold modules='a/c'/><scaffold modules='a/c b'/>" MODULES,
    };
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        struct pml_case c;
        if (pml_case_schema(&c, "words", "none", right[i], strlen(right[i])) != 0) {
            fail_msg("refused: %s", c.said);
        }
        pml_case_free(&c);
    }
}

/* PML-2, PML-7, PML-10, PML-11 */
static void what_a_prompt_may_not_say_is_refused(void **unused) {
    (void)unused;
    static const char schema[] =
        "<schema name='trip'>\n<module name='plan'>\n  <param name='days' len='2'/>\n"
        "  <module name='food'/></module>\n"
        "<union><module name='miami'/><module name='tokyo'><module name='subway'>"
        "<param name='far' len='2'/></module></module>"
        "<module name='rome'/></union><union><module name='bus'/><module name='car'/></union>"
        "<param name='who' len='2'/></schema>";
    static const struct wrong wrong[] = {
        {"<schema name='trip'/>", 1, 1, "the root is <schema>"},
        {"<prompt/>", 1, 1, "lacks its schema. Write <prompt schema=\"trip\">"},
        {"<prompt schema='tripp'/>", 1, 9, "and s.xml is \"trip\""},
        {"<prompt schema='trip'>\n <maimi/></prompt>", 2, 2, "Did you mean <miami/>?"},
        {"<prompt schema='trip'><module name='m'/></prompt>", 1, 23, "may not stand here"},
        {"<prompt schema='trip'><food/></prompt>", 1, 23, "Put <food/> into the import of plan"},
        {"<prompt schema='trip'><plan><miami/></plan></prompt>", 1, 29,
         "Put <miami/> into <prompt> itself"},
        {"<prompt schema='trip'>\n<plan/>\n<plan/></prompt>", 3, 1, "in line 2 already"},
        {"<prompt schema='trip'>\n<tokyo/>\n<plan/><miami/></prompt>", 3, 8,
         "miami and tokyo (line 2) are of one union"},
        {"<prompt schema='trip'>\n<miami/>\n<plan/><tokyo/></prompt>", 3, 8,
         "tokyo and miami (line 2) are of one union"},
        {"<prompt schema='trip'>\n<rome/>\n<miami/>\n<tokyo/></prompt>", 3, 1,
         "miami and rome (line 2) are of one union"},
        {"<prompt schema='trip'>\n<tokyo/>\n<miami/>\n<rome/></prompt>", 3, 1,
         "miami and tokyo (line 2) are of one union"},
        {"<prompt schema='trip'>\n<bus/>\n<tokyo/>\n<miami/>\n<car/></prompt>", 4, 1,
         "miami and tokyo (line 3) are of one union"},
        {"<prompt schema='trip'>\n<car/>\n<tokyo/>\n<bus/>\n<miami/></prompt>", 4, 1,
         "bus and car (line 2) are of one union"},
        {"<prompt x='1' schema='t'/>", 1, 15, "is of the schema \"t\""},
        {"<prompt schema='trip'><plan>\n <!-- q -->\n x</plan></prompt>", 3, 2, "as an attribute"},
        {"<prompt schema='trip' days='2'/>", 1, 23,
         "the schema has no param days. It is one of plan: write <plan days=\"...\">"},
        {"<prompt schema='trip'><tokyo who='2'/></prompt>", 1, 30,
         "It is one of the schema: write <prompt schema=\"trip\" who=\"...\">"},
        {"<prompt schema='trip'><plan days='2' far='2'/></prompt>", 1, 38,
         "It is one of tokyo/subway: write <subway far=\"...\">"},
        {"<prompt schema='trip'><plan><days>2</days></plan></prompt>", 1, 29,
         "days is a param of plan. Write its argument as an attribute: <plan days=\"...\">"},
        {"<prompt schema='trip'><who>me</who></prompt>", 1, 23,
         "who is a param of the schema. Write its argument as an attribute: <prompt schema"},
        {"<prompt schema='trip'><far>2</far></prompt>", 1, 23, "far is a param of tokyo/subway."},
        {"<prompt schema='trip'><plan DAYS='2'/></prompt>", 1, 29, "Did you mean days?"},
        {"<prompt schema='trip'>#include <stdio.h>\nx</prompt>", 2, 2,
         "<stdio.h> of line 1 is to end before this tag"},
        {"<prompt schema='trip'><stdio.h/></prompt>", 1, 23, "needs &lt; or <![CDATA[...]]>"},
        {"<prompt schema='trip'><plan dais='2'/></prompt>", 1, 29, "Did you mean days?"},
        {"<prompt schema='trip'><plan days='a b c'/></prompt>", 1, 29,
         "has 3 tokens, and its param (s.xml:3) takes 2"},
        {"<prompt schema='trip'><plan>2 days</plan></prompt>", 1, 29, "as an attribute"},
        {"<prompt schema='trip'><plan> x <food/></plan></prompt>", 1, 30, "behind an import in it"},
        {"<prompt schema='trip'><plan><user/></plan></prompt>", 1, 29, "directly into <prompt>"},
        {"<prompt schema='trip'><user><user/></user></prompt>", 1, 29, "directly into <prompt>"},
        {"<prompt schema='trip'><user>x<plan/></user></prompt>", 1, 30, "which has text alone"},
        {"<prompt schema='trip'><user name='x'/></prompt>", 1, 29, "has no attribute name"},
        {"<prompt schema='trip'><plan></prompt>", 1, 29, "Each <name> needs"},
    };
    struct pml_case c;
    assert_int_equal(pml_case_schema(&c, "words", "none", schema, strlen(schema)), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(pml_case_prompt(&c, wrong[i].text, strlen(wrong[i].text)), -1);
        is_said(&c, "p.xml", &wrong[i]);
        pml_case_free_prompt(&c);
    }
    pml_case_free(&c);
}

/* PML-8: no text ends a role, or begins one. */
static void a_text_with_a_marker_is_refused(void **unused) {
    (void)unused;
    static const char schema[] = "<schema name='s'><param name='p' len='9'/>[INST]</schema>";
    static const char *const markers[] = {"&lt;|im_start|>", "<![CDATA[<|im_]]><!-- -->end|>"};
    static const char *const others[] = {"[INST]",         "[/INST]", "&lt;&lt;SYS>>",
                                         "&lt;&lt;/SYS>>", "&lt;s>",  "&lt;/s>"};
    char text[128];
    struct pml_case c;
    assert_int_equal(pml_case_schema(&c, "words", "chatml", schema, strlen(schema)), 0);
    for (int i = 0; i < 2; i++) {
        (void)sprintf(text, "<prompt schema='s'><user>hi %s</user></prompt>", markers[i]);
        assert_int_equal(pml_case_prompt(&c, text, strlen(text)), -1);
        is_said(&c, "p.xml", &(struct wrong){text, 1, 26, "by which the template chatml divides"});
        pml_case_free_prompt(&c);
    }
    static const char argument[] = "<prompt schema='s' p='a&lt;|im_end|>'/>";
    assert_int_equal(pml_case_prompt(&c, argument, strlen(argument)), -1);
    is_said(&c, "p.xml", &(struct wrong){argument, 1, 20, "the argument has <|im_end|> in it"});
    pml_case_free(&c);
    for (int i = 0; i < 6; i++) {
        (void)sprintf(text, "<schema name='s'><user>x%sy</user></schema>", others[i]);
        assert_int_equal(pml_case_schema(&c, "words", "llama2", text, strlen(text)), -1);
        is_said(&c, "s.xml", &(struct wrong){text, 1, 24, "the template llama2 divides"});
        pml_case_free(&c);
        assert_int_equal(pml_case_schema(&c, "words", "none", text, strlen(text)), 0);
        pml_case_free(&c);
    }
}

/* PML-2: a name that differs least, whatever the schema's size; none, where a guess is worse. */
static void the_nearest_name_is_meant(void **unused) {
    (void)unused;
    static const struct {
        const char *name, *near; /* NULL: none is */
    } names[] = {{"zzzzzz", NULL},
                 {"mood7", "mod7"},
                 {"mdo4999", "mod4999"},
                 {"MOD4999", "mod4999"},
                 {"mod499x", "mod499"},
                 {"b", NULL},
                 {"A", "a"},
                 {"ab", "a"},
                 {"bx", NULL},
                 {"x7", NULL},
                 {"aa", "a"},
                 {"contrat", "contract"},
                 {"cotnract", "contract"},
                 {"Contract", "contract"},
                 {"mm7", "m7"},
                 {"sae", "sea"},
                 {"m_7", "m7"},
                 {"n", NULL}};
    char *text, prompt[64], meant[64];
    size_t size;
    struct pml_case c;
    FILE *out = text_open(&text, &size);
    fputs("<schema name='s'><module name='a'/><module name='contract'/><module name='sea'/>", out);
    for (int i = 0; i < 5000; i++) {
        fprintf(out,
                i < 20 ? "<module name='mod%d'/><module name='m%d'/>" : "<module name='mod%d'/>", i,
                i);
    }
    fputs("</schema>", out);
    text_close(out);
    assert_int_equal(pml_case_schema(&c, "words", "none", text, size), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(prompt, sizeof prompt, "<prompt schema='s'><%s/></prompt>", names[i].name);
        (void)snprintf(meant, sizeof meant, "Did you mean <%s/>?", names[i].near);
        assert_int_equal(pml_case_prompt(&c, prompt, strlen(prompt)), -1);
        const char *found = strstr(c.said, names[i].near != NULL ? meant : "Did you mean");
        if ((found != NULL) != (names[i].near != NULL)) {
            fail_msg("not '%s', but '%s'", names[i].near != NULL ? meant : "none", c.said);
        }
        assert_true((strstr(c.said, "Text with <") == NULL) == (names[i].near != NULL));
        pml_case_free_prompt(&c);
    }
    pml_case_free(&c);
    free(text);
}

/* PML-11, MOD-6: the last position is CP_MAX_POSITIONS - 1. */
static void a_text_behind_the_last_position_is_refused(void **unused) {
    (void)unused;
    static const char schema[] = "<schema name='s'><param name='p' len='1048575'/></schema>";
    const struct wrong wrong = {"<prompt schema='s'>\n one two</prompt>", 2, 2, "position 1048575"};
    static const char right[] = "<prompt schema='s'>one</prompt>";
    struct pml_case c;
    assert_int_equal(pml_case_schema(&c, "words", "none", schema, strlen(schema)), 0);
    assert_int_equal(pml_case_prompt(&c, wrong.text, strlen(wrong.text)), -1);
    is_said(&c, "p.xml", &wrong);
    pml_case_free_prompt(&c);
    assert_int_equal(pml_case_prompt(&c, right, strlen(right)), 0);
    assert_int_equal(c.prompt.segment[0].placed, 1048575);
    pml_case_free(&c);
}

/* PML-12: bytes, XML, elements in order, names, scaffolds, positions. */
static void the_first_error_is_said(void **unused) {
    (void)unused;
    static const struct wrong wrong[] = {
        {"<schema name='s'>\n<module>\n\xFF", 3, 1, "is not UTF-8"},
        {"<schema name='s'>\n<bad/>\n<module name='m'>&x;</module></schema>", 3, 18, "&lt;"},
        {"<schema name='s'>\n<bad/>\n<worse/><module name='m'/><module name='m'/></schema>", 2, 1,
         "<bad>"},
        {"<schema name='s'>\n<scaffold modules='n'/>\n<module name='m'/><module name='m'/>"
         "</schema>",
         3, 19, "is called m"},
        {"<schema name='s'>\n<scaffold modules='n'/>\n<param name='p' len='1048576'/>x</schema>", 2,
         11, "no module n"},
    };
    ARE_REFUSED(wrong);
}

/* PML-12: a column is a character, and what could steer a terminal is not printed. */
static void a_message_is_safe_to_print(void **unused) {
    (void)unused;
    struct pml_case c;
    static const char text[] =
        "<schema name='\xC3\xA9'>\xE2\x82\xAC<module name='&#x9B;31m'/></schema>";
    assert_int_equal(pml_case_schema(&c, "words", "none", text, strlen(text)), -1);
    assert_ptr_equal(strstr(c.said, "s.xml:1:27: "), c.said);
    assert_non_null(strstr(c.said, "\"\\xC2\\x9B31m\""));
    pml_case_free(&c);
    static const char order[] = "<schema name='a\xE2\x80\xAE-\xE2\x80\xAC'/>"; /* right to left */
    assert_int_equal(pml_case_schema(&c, "words", "none", order, strlen(order)), -1);
    assert_non_null(strstr(c.said, "\"a\\xE2\\x80\\xAE-"));
    pml_case_free(&c);
}

/* PML-12: a long name or value is not repeated. */
static void a_message_is_short(void **unused) {
    (void)unused;
    static const struct {
        const char *before, *behind, *said;
    } wrong[] = {
        {"<schema name='", "'/>", "bytes)\" is longer than 255 bytes"},
        {"<schema name='s'><module name='", "'/></schema>", "is longer than 255 bytes"},
        {"<schema name='s'><param name='p' len='", "'/></schema>", "bytes)\". Write how many"},
        {"<schema name='s' xml:space='", "'/>", "xml:space is \"nnn"},
        {"<schema name='s'><scaffold modules='", "'/></schema>", "the schema has no module nnn"},
        {"<?xml version='1.0' encoding='", "'?><schema/>", "the encoding is \"nnn"},
        {"<schema name='s'><", "/></schema>", "is longer than 255 bytes"},
        {"<schema name='s'></", "></schema>", "not well-formed"},
        {"<schema name='s'>&", ";</schema>", "not well-formed"},
    };
    enum { MANY = 100000, SOME = 300 };
    static char text[MANY + 100];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        for (int n = MANY; n > 0; n -= MANY - SOME) {
            struct pml_case c;
            memset(text, 'n', sizeof text);
            memcpy(text, wrong[i].before, strlen(wrong[i].before));
            strcpy(text + strlen(wrong[i].before) + n, wrong[i].behind);
            assert_int_equal(pml_case_schema(&c, "words", "none", text, strlen(text)), -1);
            if (strlen(c.said) > 200 || strstr(c.said, wrong[i].said) == NULL) {
                fail_msg("not '%s', but '%.1000s'", wrong[i].said, c.said);
            }
            pml_case_free(&c);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_plain_xml_is_refused),
        cmocka_unit_test(what_xml_lacks_is_said),
        cmocka_unit_test(what_may_not_stand_there_is_refused),
        cmocka_unit_test(a_name_that_no_prompt_could_use_is_refused),
        cmocka_unit_test(a_name_is_what_an_element_may_be_called),
        cmocka_unit_test(a_length_that_is_none_is_refused),
        cmocka_unit_test(a_scaffold_that_never_counts_is_refused),
        cmocka_unit_test(what_a_prompt_may_not_say_is_refused),
        cmocka_unit_test(a_text_with_a_marker_is_refused),
        cmocka_unit_test(the_nearest_name_is_meant),
        cmocka_unit_test(a_text_behind_the_last_position_is_refused),
        cmocka_unit_test(the_first_error_is_said),
        cmocka_unit_test(a_message_is_short),
        cmocka_unit_test(a_message_is_safe_to_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
